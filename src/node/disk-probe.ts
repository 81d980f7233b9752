// How fast the disk under etcd is: small appends, each synced, as etcd's log does them.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';

const writes = 20;
const writeBytes = 2048;

/** The 99th percentile, which of so few writes is the slowest. */
export async function measureFsync(host: Pick<Host, 'files' | 'clock'>, folder: string): Promise<number> {
  const path = join(folder, '.firstlight-fsync-probe');
  const block = new Uint8Array(writeBytes);
  const tookMs: number[] = [];
  const handle = await host.files.openAppend(path, { mode: 0o600 });
  try {
    for (let n = 0; n < writes; n += 1) {
      const startMs = host.clock.monotonicMs();
      await handle.append(block);
      tookMs.push(host.clock.monotonicMs() - startMs);
    }
  } finally {
    await handle[Symbol.asyncDispose]();
    await host.files.remove(path);
  }
  return Math.max(...tookMs);
}
