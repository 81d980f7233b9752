// Opens a backup for the cluster of an asset folder: everything that can be known to be wrong with it is found here,
// before anything is changed.
import { join } from 'node:path';
import { ownFolder } from '../../contract/asset-folder.ts';
import { readEncryptionKeys } from '../../contract/secrets-encryption.ts';
import { readBackup } from '../../disaster-recovery/backup-file.ts';
import type { BackupManifest } from '../../disaster-recovery/backup-manifest.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import { openText } from '../../disaster-recovery/sealed-keys.ts';
import type { Host } from '../../host/host.ts';
import { Secret } from '../../host/secret.ts';
import type { FoundCluster } from '../find-cluster.ts';
import { folderSealing } from './snapshot-checks.ts';

export interface OpenedBackup {
  readonly file: string;
  readonly manifest: BackupManifest;
  /** Where its snapshot is now. */
  readonly snapshot: string;
  /** The text of tls/secrets-encryption.json as it was when the backup was taken. */
  readonly encryptionKeys: Secret;
}

/** Relative to the asset folder. */
export const restoreFolder = `${ownFolder}/restore`;

export interface BackupToOpen {
  readonly host: Host;
  readonly dir: string;
  readonly file: string;
  readonly cluster: FoundCluster;
}

export async function openBackup({ host, dir, file, cluster }: BackupToOpen): Promise<OpenedBackup> {
  await host.files.makeFolder(join(dir, restoreFolder), { mode: 0o700 });
  const snapshot = join(dir, restoreFolder, 'snapshot.db');
  const manifest = await readBackup(host.files, file, snapshot);
  const { id, infraId } = manifest.cluster;
  if (id !== cluster.clusterId) {
    throw recoveryErrors.OTHER_CLUSTER({ file, backup: infraId, dir, folder: cluster.name });
  }
  const keys = openText(manifest.encryption.sealed, await folderSealing(host, dir, id));
  if (keys === undefined) throw recoveryErrors.WRONG_KEYS({ file, dir });
  const read = readEncryptionKeys(keys);
  if ('mistake' in read) throw recoveryErrors.DAMAGED({ file, reason: `its keys cannot be used: ${read.mistake}` });
  return { file, manifest, snapshot, encryptionKeys: new Secret(keys) };
}
