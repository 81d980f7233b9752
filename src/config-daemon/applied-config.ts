// The rendered config that a machine has: the file `currentconfig`, which counts more than annotations of the Node.
// Only a finished change writes it, and the first start of the daemon, from what was served at first boot.
import { dirname } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Host } from '../host/host.ts';
import { apiVersion, type MachineConfigSpec } from '../machine-config/machine-config.ts';
import { readObjects } from '../machine-config/read-objects.ts';
import { textStart } from '../source-text/place.ts';
import { configDaemonErrors } from './errors.ts';

/** A rendered MachineConfig, as far as a machine is concerned. */
export interface AppliedConfig {
  readonly name: string;
  readonly spec: MachineConfigSpec;
}

/** Undefined on a machine that has no config yet. */
export async function readAppliedConfig(host: Host): Promise<AppliedConfig | undefined> {
  return readConfigFile(host, daemonFiles.currentConfig);
}

/** What the config server gave this machine at its first boot; undefined if it gave nothing. */
export async function readServedConfig(host: Host): Promise<AppliedConfig | undefined> {
  return readConfigFile(host, daemonFiles.servedMachineConfig);
}

/** For the first start, when the machine has what it was served. A change writes the file by itself. */
export async function writeAppliedConfig(host: Host, config: AppliedConfig): Promise<void> {
  await host.files.makeFolder(dirname(daemonFiles.currentConfig));
  await host.files.write(daemonFiles.currentConfig, appliedConfigText(config), { mode: appliedConfigMode });
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

async function readConfigFile(host: Host, path: string): Promise<AppliedConfig | undefined> {
  const content = await host.files.readIfPresent(path);
  if (content === undefined) return undefined;
  return appliedConfigOf(parsedJson(Buffer.from(content).toString('utf8'), path), path);
}

function parsedJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw configDaemonErrors.UNREADABLE({ source, reason: String(error) }, { cause: error });
  }
}
