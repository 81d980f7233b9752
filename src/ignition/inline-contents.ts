// Files whose contents are inside the config, as data URLs: how other rooms write and read them.
// Contents that must be fetched are not fetched here.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { FileNode, Resource } from './config.ts';
import { dataUrl, decodeDataUrl } from './data-url.ts';

export interface InlineFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** As the file system knows it: 0o644. */
  readonly mode: number;
  /** By default the file belongs to root. */
  readonly user?: string;
  readonly group?: string;
  readonly gzip?: boolean;
}

/** A file that replaces any file at its path. */
export function inlineFile({ path, content, mode, user, group, gzip = false }: InlineFile): FileNode {
  return {
    path,
    overwrite: true,
    ...(user === undefined ? {} : { user: { name: user } }),
    ...(group === undefined ? {} : { group: { name: group } }),
    contents: gzip ? { source: dataUrl(gzipSync(content)), compression: 'gzip' } : { source: dataUrl(content) },
    mode,
  };
}

export type InlineContents =
  | { readonly status: 'inline'; readonly bytes: Uint8Array }
  | { readonly status: 'remote'; readonly source: string }
  | { readonly status: 'malformed'; readonly reason: string };

/** The bytes of a resource after decompression. No source, or an empty one, is an empty file. */
export function readInlineContents(resource: Resource): InlineContents {
  const { source = '', compression = '' } = resource;
  if (source === '') return { status: 'inline', bytes: new Uint8Array() };
  if (!source.startsWith('data:')) return { status: 'remote', source };
  const decoded = decodeDataUrl(source);
  if (decoded.status === 'malformed') return decoded;
  if (compression === '') return { status: 'inline', bytes: decoded.url.bytes };
  try {
    return { status: 'inline', bytes: gunzipSync(decoded.url.bytes) };
  } catch (error) {
    return { status: 'malformed', reason: `the data is not gzip: ${String(error)}` };
  }
}
