// The file that tells a bootstrap machine to bring a cluster back: its etcd begins with a snapshot instead of empty.
// `restore` adds it to the config of that machine and brings the snapshot; bootkube reads both. rm-assets removes them.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { etcdRestoreErrors } from './errors.ts';
import { bootstrapFolder } from './machine-paths.ts';

export const etcdRestoreFile = `${bootstrapFolder}/etcd-restore.json`;
/** Brought while the machine runs, because a config is no place for gigabytes. */
export const etcdSnapshotFile = `${bootstrapFolder}/etcd-snapshot.db`;

export const etcdRestoreSchema = z.strictObject({
  /** Of this restore. It makes the restored etcd another cluster than the lost one, to which no old member belongs. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /** Machines, and their objects, of the lost control plane are older than this. */
  beganAt: z.iso.datetime(),
  snapshot: z.strictObject({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    sizeBytes: z.int().positive(),
    revision: z.int().nonnegative(),
  }),
});
export type EtcdRestore = Readonly<z.output<typeof etcdRestoreSchema>>;

export function etcdRestoreText(restore: EtcdRestore): string {
  return `${JSON.stringify(restore, null, 2)}\n`;
}

/** Undefined on the machine of a new cluster. A file that cannot be read throws: the etcd must not begin empty. */
export async function readEtcdRestore(files: Pick<Files, 'readIfPresent'>): Promise<EtcdRestore | undefined> {
  const content = await files.readIfPresent(etcdRestoreFile);
  if (content === undefined) return undefined;
  try {
    return etcdRestoreSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : 'it is not JSON';
    throw etcdRestoreErrors.RESTORE_FILE({ path: etcdRestoreFile, reason }, { cause: error });
  }
}
