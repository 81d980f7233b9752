// A backup as a file: a tar.gz with backup.json and snapshot.db, written whole or not at all, for its owner alone. A
// person can take it apart by tar, and use snapshot.db with etcdutl.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { createTarDecoder, createTarPacker, type ParsedTarEntry } from 'modern-tar';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { type BackupManifest, backupManifestSchema } from './backup-manifest.ts';
import { recoveryErrors } from './errors.ts';

const manifestName = 'backup.json';
const snapshotName = 'snapshot.db';
/** What we write has a few hundred bytes. */
const manifestBytesMax = 2 ** 20;

/** The last bytes of a snapshot are the SHA-256 of all before them; etcd writes them at the end of the stream. */
const checksumBytes = 32;

export interface SnapshotDigests {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whether its own checksum is that of its content. */
  readonly isWhole: boolean;
}

export async function snapshotDigests(files: Files, path: string): Promise<SnapshotDigests> {
  const all = createHash('sha256');
  const content = createHash('sha256');
  let sizeBytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of files.stream(path)) {
    all.update(chunk);
    sizeBytes += chunk.length;
    const joined = Buffer.concat([tail, chunk]);
    const kept = Math.max(0, joined.length - checksumBytes);
    content.update(joined.subarray(0, kept));
    tail = Buffer.from(joined.subarray(kept));
  }
  return { sha256: all.digest('hex'), sizeBytes, isWhole: content.digest().equals(tail) };
}

export interface NewBackup {
  readonly path: string;
  readonly manifest: BackupManifest;
  /** Where the snapshot is now. */
  readonly snapshot: string;
}

/** Throws RECOVERY_FILE_EXISTS where another file has the name. */
export async function writeBackup(files: Files, { path, manifest, snapshot }: NewBackup): Promise<void> {
  const unfinished = join(dirname(path), `.${manifest.cluster.infraId}-backup.unfinished`);
  const packed = webStream(archive(files, manifest, snapshot));
  await files.writeStream(unfinished, packed.pipeThrough(new CompressionStream('gzip')), { mode: 0o600 });
  try {
    // A second name fails where the first is taken, a rename would not.
    await files.hardLink(unfinished, path);
  } catch (error) {
    if (isError(error, hostErrors.FILE) && (await files.facts(path)) !== undefined) {
      throw recoveryErrors.FILE_EXISTS({ file: path });
    }
    throw error;
  } finally {
    await files.remove(unfinished);
  }
}

/** The streams that compress take no shared memory, and nobody here has any. */
function webStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(chunks as AsyncIterable<Uint8Array<ArrayBuffer>>);
}

async function* archive(files: Files, manifest: BackupManifest, snapshot: string): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const mtime = new Date(manifest.takenAt);
  const fill = async (): Promise<void> => {
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    const first = controller.add({ name: manifestName, size: text.length, mode: 0o600, mtime }).getWriter();
    await first.write(text);
    await first.close();
    const { sizeBytes } = manifest.snapshot;
    const second = controller.add({ name: snapshotName, size: sizeBytes, mode: 0o600, mtime }).getWriter();
    for await (const chunk of files.stream(snapshot)) {
      await second.ready;
      await second.write(chunk);
    }
    await second.close();
    controller.finalize();
  };
  const filling = fill();
  filling.catch((error: unknown) => controller.error(error));
  yield* readable;
  await filling;
}

/**
 * The manifest of a backup, with its snapshot written to `snapshotTo`. Throws RECOVERY_DAMAGED when anything of the
 * file is not what its own digests say; then no snapshot stays.
 */
export async function readBackup(files: Files, path: string, snapshotTo: string): Promise<BackupManifest> {
  const damaged = (reason: string, cause?: unknown) => recoveryErrors.DAMAGED({ file: path, reason }, { cause });
  if ((await files.facts(path)) === undefined) throw damaged('there is no such file');
  try {
    const manifest = await unpack(files, path, snapshotTo);
    if (typeof manifest === 'string') throw damaged(manifest);
    const found = await snapshotDigests(files, snapshotTo);
    const isSame = found.sha256 === manifest.snapshot.sha256 && found.sizeBytes === manifest.snapshot.sizeBytes;
    if (!isSame || !found.isWhole) throw damaged('its snapshot is not the one that was written');
    return manifest;
  } catch (error) {
    await files.remove(snapshotTo);
    if (isError(error, recoveryErrors.DAMAGED) || isError(error, hostErrors.FILE)) throw error;
    throw damaged(error instanceof Error ? error.message : String(error), error);
  }
}

/** Or what is wrong with the file. */
async function unpack(files: Files, path: string, snapshotTo: string): Promise<BackupManifest | string> {
  const entries = webStream(files.stream(path))
    .pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(createTarDecoder({ strict: true }));
  let manifest: BackupManifest | undefined;
  let hasSnapshot = false;
  for await (const entry of entries) {
    if (manifest === undefined) {
      if (entry.header.name !== manifestName) return `it does not begin with ${manifestName}`;
      const read = backupManifestSchema.safeParse(jsonIfValid(await manifestText(entry)));
      if (!read.success) return `${manifestName} in it is not one that this Firstlight writes`;
      manifest = read.data;
    } else if (entry.header.name === snapshotName && !hasSnapshot) {
      hasSnapshot = true;
      await files.writeStream(snapshotTo, entry.body, { mode: 0o600 });
    } else return `it holds ${entry.header.name}, which is no part of a backup`;
  }
  return manifest === undefined || !hasSnapshot ? 'a part of it is missing' : manifest;
}

async function manifestText({ header, body }: ParsedTarEntry): Promise<string> {
  if (header.size > manifestBytesMax) throw new Error(`${manifestName} in it is too large`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
