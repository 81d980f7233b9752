// What the workstation brings to check and to open a backup: etcdutl of the release, and the key of root-ca in the
// asset folder.
import { join } from 'node:path';
import { readSnapshotStatus, type SnapshotStatus } from '../../disaster-recovery/etcd-answers.ts';
import type { Sealing } from '../../disaster-recovery/sealed-keys.ts';
import type { Host } from '../../host/host.ts';
import { Secret } from '../../host/secret.ts';
import { partPrograms } from '../../release/machine-image.ts';
import { failureOf } from './machine-transfer.ts';

const statusMs = 10 * 60_000;

/** What etcdutl reads in a snapshot, or why it cannot. */
export async function snapshotStatus(
  host: Host,
  snapshot: string,
  signal: AbortSignal,
): Promise<SnapshotStatus | { readonly mistake: string }> {
  const etcdutl = join(await partPrograms(host, 'etcd'), 'etcdutl');
  const args = ['snapshot', 'status', snapshot, '--write-out=json'];
  const result = await host.processes.run(etcdutl, args, { signal, timeoutMs: statusMs });
  return readSnapshotStatus(result.stdout) ?? { mistake: `etcdutl cannot read it: ${failureOf(result)}` };
}

export async function folderSealing(host: Host, dir: string, clusterId: string): Promise<Sealing> {
  return { rootCaKey: new Secret(await host.files.readText(join(dir, 'tls/root-ca.key'))), clusterId };
}
