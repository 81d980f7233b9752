// What was at a path before the first config wrote there: a copy of the file of the operating system, or a stamp that
// says that nothing was there. When the path leaves the config, the copy comes back, or the path goes.
import type { Host } from '../host/host.ts';
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';

/** For first boot, between Ignition's `fetch` and `files`: once per path, an existing original is never overwritten. */
export async function saveOriginals(_host: Host, _spec: MachineConfigSpec): Promise<void> {
  throw new Error('not built yet');
}
