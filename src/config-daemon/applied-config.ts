// The rendered config that a machine has or gets: from an object of the API, and as the text of `currentconfig`, which
// counts more than annotations of the Node. Only a finished change writes that file, and the first start of the daemon.
import { apiVersion, type MachineConfigSpec } from '../machine-config/machine-config.ts';
import { readObjects } from '../machine-config/read-objects.ts';
import { textStart } from '../source-text/place.ts';
import { configDaemonErrors } from './errors.ts';

/** A rendered MachineConfig, as far as a machine is concerned. */
export interface AppliedConfig {
  readonly name: string;
  readonly spec: MachineConfigSpec;
}

/** It contains the whole config, also its secrets. */
export const appliedConfigMode = 0o600;

export function appliedConfigText({ name, spec }: AppliedConfig): string {
  return `${JSON.stringify({ apiVersion, kind: 'MachineConfig', metadata: { name }, spec }, null, 2)}\n`;
}

/** From an object of the API or of a file. Throws CONFIGDAEMON_UNREADABLE, which names `source`. */
export function appliedConfigOf(object: unknown, source: string): AppliedConfig {
  const { machineConfigs, mistakes } = readObjects([
    { value: object, placeOf: () => ({ file: source, ...textStart }) },
  ]);
  const [found] = machineConfigs;
  if (found !== undefined) return { name: found.metadata.name, spec: found.spec };
  const reasons = mistakes.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  throw configDaemonErrors.UNREADABLE({ source, reason: reasons.join('; ') || 'it is another kind of object' });
}
