// An image layer as a tar file. The same content gives the same bytes: entries are sorted, times are zero, the owner is
// root. Layers are not compressed: the digest would depend on the compressor's version, and a local import is slower.
import { createHash } from 'node:crypto';
import { createTarPacker, type TarHeader } from 'modern-tar';
import type { Files } from '../../host/files.ts';
import type { Digest } from '../../workflow/digest.ts';

export type LayerItem =
  | { readonly kind: 'file'; readonly from: string; readonly mode?: number }
  | { readonly kind: 'text'; readonly text: string; readonly mode?: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode?: number };

/** Path without a leading slash → item. Parent folders are added. */
export type LayerContent = Readonly<Record<string, LayerItem>>;

export interface ImageBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

const epoch = new Date(0);

/** Writes the layer to `path`. Its digest is also the diff id, because it is not compressed. */
export async function writeLayer(files: Files, content: LayerContent, path: string): Promise<ImageBlob> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of packed(files, content)) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
    }
  };
  await files.writeStream(path, counted());
  return { digest: hash.digest('hex'), sizeBytes };
}

async function* packed(files: Files, content: LayerContent): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const writing = writeEntries(files, content, (header) => controller.add(header)).then(
    () => controller.finalize(),
    (error: unknown) => controller.error(error),
  );
  for await (const chunk of readable) yield chunk;
  await writing;
}

async function writeEntries(
  files: Files,
  content: LayerContent,
  add: (header: TarHeader) => WritableStream<Uint8Array>,
): Promise<void> {
  const all = withParents(content);
  for (const name of Object.keys(all).sort()) {
    const item = all[name];
    if (item === undefined) continue;
    const { header, body } = await describe(files, name, item);
    const writer = add(header).getWriter();
    for await (const chunk of body) await writer.write(chunk);
    await writer.close();
  }
}

function withParents(content: LayerContent): LayerContent {
  const all: Record<string, LayerItem> = { ...content };
  for (const name of Object.keys(content)) {
    const words = name.split('/');
    for (let depth = 1; depth < words.length; depth += 1) all[words.slice(0, depth).join('/')] ??= { kind: 'folder' };
  }
  return all;
}

interface Described {
  readonly header: TarHeader;
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

async function describe(files: Files, name: string, item: LayerItem): Promise<Described> {
  const common = { mtime: epoch, uid: 0, gid: 0, uname: '', gname: '' };
  switch (item.kind) {
    case 'folder':
      return {
        header: { ...common, name: `${name}/`, type: 'directory', size: 0, mode: item.mode ?? 0o755 },
        body: [],
      };
    case 'link':
      return {
        header: { ...common, name, type: 'symlink', size: 0, mode: 0o777, linkname: item.target },
        body: [],
      };
    case 'text': {
      const bytes = Buffer.from(item.text);
      return { header: { ...common, name, type: 'file', size: bytes.length, mode: item.mode ?? 0o644 }, body: [bytes] };
    }
    case 'file': {
      const size = (await files.facts(item.from))?.sizeBytes ?? 0;
      return {
        header: { ...common, name, type: 'file', size, mode: item.mode ?? 0o755 },
        body: files.stream(item.from),
      };
    }
  }
}
