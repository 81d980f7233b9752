import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { encryptionConfigurationText } from '../../contract/secrets-encryption.ts';
import { writeBackup } from '../../disaster-recovery/backup-file.ts';
import type { BackupManifest } from '../../disaster-recovery/backup-manifest.ts';
import { sealText } from '../../disaster-recovery/sealed-keys.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import { Secret } from '../../host/secret.ts';
import type { FoundCluster } from '../find-cluster.ts';
import { openBackup } from './open-backup.ts';

const id = '7f9c5e5e-6c2a-4b0e-9d53-0d6a0f1f2a3b';
const keys = encryptionConfigurationText([{ name: 'key-20261117t030000z', secret: `${'A'.repeat(43)}=` }]);
const database = Buffer.alloc(9_000, 'page ');
const snapshot = Buffer.concat([database, createHash('sha256').update(database).digest()]);
const sealing = { rootCaKey: new Secret('the key of root-ca\n'), clusterId: id };

let host: FakeHost;
beforeEach(async () => {
  host = fakeHost();
  await host.files.makeFolder('/w/tls');
  await host.files.write('/w/tls/root-ca.key', sealing.rootCaKey.reveal());
  await host.files.write('/snapshot.db', snapshot);
});

async function backupOf(sealed: string): Promise<void> {
  const manifest: BackupManifest = {
    format: 1,
    takenAt: '2026-11-17T03:00:00.000Z',
    cluster: { name: 'demo', id, infraId: 'demo-x2k4q' },
    release: { version: '0.1.0', image: 'r.test/release@sha256:1', kubernetes: '1.36.5', etcd: '3.7.3' },
    etcd: { member: 'master-0', hasMajority: true, storageVersion: '3.7.0', revision: 812, keys: 400, hash: 17 },
    snapshot: { sha256: createHash('sha256').update(snapshot).digest('hex'), sizeBytes: snapshot.length },
    encryption: { keys: ['key-20261117t030000z'], sealed },
  };
  await writeBackup(host.files, { path: '/backup', manifest, snapshot: '/snapshot.db' });
}

const open = (clusterId = id) =>
  openBackup({ host, dir: '/w', file: '/backup', cluster: { clusterId, name: 'demo-x2k4q' } as FoundCluster });

test('a backup of this cluster opens, with its snapshot and the keys of its Secrets', async () => {
  await backupOf(sealText(keys, sealing, host.random));
  const { encryptionKeys, snapshot: path, manifest } = await open();
  expect(encryptionKeys.reveal()).toBe(keys);
  expect(Buffer.from(await host.files.read(path)).equals(snapshot)).toBe(true);
  expect(manifest.etcd.revision).toBe(812);
});

test('a backup of another cluster is refused by the name of both', async () => {
  await backupOf(sealText(keys, sealing, host.random));
  await expect(open('11111111-1111-4111-8111-111111111111')).rejects.toMatchObject({ code: 'RECOVERY_OTHER_CLUSTER' });
});

test('a folder with another root-ca does not open the keys', async () => {
  await backupOf(sealText(keys, sealing, host.random));
  await host.files.write('/w/tls/root-ca.key', 'another key');
  await expect(open()).rejects.toMatchObject({ code: 'RECOVERY_WRONG_KEYS' });
});

test('keys that are none are no keys, whoever sealed them', async () => {
  await backupOf(sealText('{}', sealing, host.random));
  await expect(open()).rejects.toMatchObject({ code: 'RECOVERY_DAMAGED' });
});
