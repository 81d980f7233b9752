// Whether the folders of a machine can still be written to. Free space is only half of it: inodes and quotas are seen by
// writing alone, so a few bytes are written and removed again.
import { join } from 'node:path';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { InsideFacts } from './inside-facts.ts';

type Disk = InsideFacts['disks'][number];

const folders = ['/var/lib/etcd', '/var/lib/kubelet', '/var/lib/containerd', '/var/lib/firstlight', '/var/log', '/tmp'];
const probe = new Uint8Array(64 * 1024);

export async function lookAtDisks(host: Host): Promise<readonly Disk[]> {
  const disks = await Promise.all(folders.map((path) => lookAtDisk(host, path)));
  return disks.filter((disk) => disk !== undefined);
}

async function lookAtDisk({ files }: Host, path: string): Promise<Disk | undefined> {
  if ((await files.facts(path)) === undefined) return undefined;
  const freeBytes = await files.freeBytes(path);
  const file = join(path, '.firstlight-disk-probe');
  try {
    await files.write(file, probe, { mode: 0o600, isDurable: false });
    return { path, freeBytes };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return { path, freeBytes, problem: error.message };
  } finally {
    await files.remove(file).catch(() => {});
  }
}
