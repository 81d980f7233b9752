// A folder tree as data: its items in a fixed order, and one digest of all of them. Times are not part of the digest,
// so the same content made twice has the same digest.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Files } from '../../host/files.ts';
import type { Digest } from '../../workflow/digest.ts';

export interface TreeItem {
  /** Relative to the tree's top, `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly mode: number;
  readonly owner?: string;
  readonly sizeBytes: number;
  readonly sha256?: Digest;
  readonly target?: string;
  readonly modifiedMs: number;
}

export interface TreeOptions {
  /** True for the root of a machine; false for files that are packed with a fixed owner later. */
  readonly recordsOwners?: boolean;
}

export async function listTree(files: Files, top: string, options: TreeOptions = {}): Promise<readonly TreeItem[]> {
  const items: TreeItem[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const name of (await files.list(join(top, folder))) ?? []) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const item = await describe(files, top, path, options);
      items.push(item);
      if (item.kind === 'folder') await visit(path);
    }
  };
  await visit('');
  return items;
}

async function describe(files: Files, top: string, path: string, options: TreeOptions): Promise<TreeItem> {
  const place = join(top, path);
  const facts = await files.facts(place);
  if (facts === undefined) throw new Error(`${place} vanished while it was being read`);
  const { kind } = facts;
  // Without owners, the mode of a folder only depends on the umask of the build.
  const mode = kind === 'folder' && options.recordsOwners !== true ? 0o755 : facts.mode;
  return {
    path,
    kind,
    mode,
    ...(options.recordsOwners === true ? { owner: `${facts.uid}:${facts.gid}` } : {}),
    sizeBytes: kind === 'file' ? facts.sizeBytes : 0,
    ...(kind === 'file' ? { sha256: await digestOfFile(files, place) } : {}),
    ...(kind === 'link' ? { target: await files.readLink(place) } : {}),
    modifiedMs: facts.modifiedAt.getTime(),
  };
}

export async function digestOfFile(files: Files, path: string): Promise<Digest> {
  const hash = createHash('sha256');
  for await (const chunk of files.stream(path)) hash.update(chunk);
  return hash.digest('hex');
}

export function digestOfTree(items: readonly TreeItem[]): Digest {
  const hash = createHash('sha256');
  for (const { modifiedMs: _, ...item } of items) hash.update(`${JSON.stringify(item)}\n`);
  return hash.digest('hex');
}

/** The first difference between recorded and found items as text; undefined if there is none. */
export function firstDifference(recorded: readonly TreeItem[], found: readonly TreeItem[]): string | undefined {
  const there = new Map(found.map((item) => [item.path, item]));
  for (const was of recorded) {
    const is = there.get(was.path);
    if (is === undefined) return `${was.path} is missing`;
    if (is.kind !== was.kind) return `${was.path} is a ${is.kind}, recorded as a ${was.kind}`;
    if (is.sizeBytes !== was.sizeBytes) return `${was.path} has ${is.sizeBytes} bytes, recorded were ${was.sizeBytes}`;
    if (is.sha256 !== was.sha256) return `${was.path} has another content than recorded (sha256 ${is.sha256})`;
    if (is.target !== was.target) return `${was.path} points to ${is.target}, recorded was ${was.target}`;
    if (is.mode !== was.mode || is.owner !== was.owner) return `${was.path} has other permissions than recorded`;
    there.delete(was.path);
  }
  const [extra] = there.keys();
  return extra === undefined ? undefined : `${extra} was not there when it was built`;
}
