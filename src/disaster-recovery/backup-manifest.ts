// backup.json, the first file of a backup: what it is a backup of, and by which figures the rest of it is checked.
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const backupManifestSchema = z.strictObject({
  format: z.literal(1),
  takenAt: z.iso.datetime(),
  cluster: z.strictObject({ name: z.string(), id: z.uuid(), infraId: z.string() }),
  /** What the master ran that the snapshot is from. */
  release: z.strictObject({
    version: z.string(),
    /** By digest. */
    image: z.string(),
    kubernetes: z.string(),
    etcd: z.string(),
  }),
  etcd: z.strictObject({
    /** The machine. */
    member: z.string(),
    /** False: the member was alone, and may not have had the last writes. */
    hasMajority: z.boolean(),
    /** The form of the data; an older etcd refuses it. */
    storageVersion: z.string(),
    revision: z.int().positive(),
    keys: z.int().nonnegative(),
    /** As `etcdutl snapshot status` prints it, in decimal. */
    hash: z.int().nonnegative(),
  }),
  snapshot: z.strictObject({ sha256, sizeBytes: z.int().positive() }),
  /** The keys that encrypt Secrets in the snapshot: by their names for people, and as a text that is sealed. */
  encryption: z.strictObject({ keys: z.array(z.string()).min(1), sealed: z.base64() }),
});
export type BackupManifest = Readonly<z.output<typeof backupManifestSchema>>;
