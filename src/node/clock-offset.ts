// How wrong the clock of this machine is, against the API server's. The server tells its time in whole seconds, so one
// exchange proves only that the difference lies in an interval; what is reported is the part of it that is certain.
import { bundleFile } from '../control-plane/control-plane-paths.ts';
import type { Host } from '../host/host.ts';

/** Zero when the clocks may agree, else by how much they differ at least; positive when ours is ahead. */
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
  const least = sentMs - (serverMs + 999);
  const most = receivedMs - serverMs;
  if (least > 0) return least;
  return most < 0 ? most : 0;
}
