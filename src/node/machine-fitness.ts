// Measures whether a machine is fit for a member of etcd: how wrong its clock is and how slow its disk is. The limits
// are rules of membership (membership/growth-limits.ts).
import { join } from 'node:path';
import { bundleFile } from '../control-plane/control-plane-paths.ts';
import type { Host } from '../host/host.ts';

/**
 * How wrong the clock of this machine is, against the clock of the API server. The server gives its time in whole
 * seconds, so one exchange proves only that the difference lies in an interval; what is returned is the part that is
 * certain. Zero when the clocks may agree, else by how much they differ at least; positive when ours is ahead.
 */
export async function measureClockOffset(host: Host, apiServerUrl: string): Promise<number> {
  const ca = await host.files.readText(bundleFile('apiserver-ca'));
  const sentMs = host.clock.now().getTime();
  const { headers } = await host.network.request({ url: `${apiServerUrl}/livez`, ca, timeoutMs: 5_000 });
  const receivedMs = host.clock.now().getTime();
  return provenOffset({ sentMs, receivedMs, serverDate: headers['date'] ?? '' });
}

export interface Exchange {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** The Date header of the answer. */
  readonly serverDate: string;
}

export function provenOffset({ sentMs, receivedMs, serverDate }: Exchange): number {
  const serverMs = Date.parse(serverDate);
  if (Number.isNaN(serverMs)) return 0;
  const leastOffsetMs = sentMs - (serverMs + 999);
  const mostOffsetMs = receivedMs - serverMs;
  if (leastOffsetMs > 0) return leastOffsetMs;
  return mostOffsetMs < 0 ? mostOffsetMs : 0;
}

const probeWrites = 20;
const probeBytes = 2048;

/** The 99th percentile of small appends, each synced as etcd's log does it; of so few writes it is the slowest. */
export async function measureFsync(host: Pick<Host, 'files' | 'clock'>, folder: string): Promise<number> {
  const path = join(folder, '.firstlight-fsync-probe');
  const block = new Uint8Array(probeBytes);
  const tookMs: number[] = [];
  const handle = await host.files.openAppend(path, { mode: 0o600 });
  try {
    for (let n = 0; n < probeWrites; n += 1) {
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
