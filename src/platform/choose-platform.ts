// The one place that knows which platforms there are. The key of the `platform` section in install-config.yaml and in
// metadata.json names the platform.
import type { Host } from '../host/host.ts';
import { localPlatform } from './local/local-platform.ts';
import { nonePlatform } from './none/none-platform.ts';
import type { Platform } from './platform.ts';

const platforms: Readonly<Record<string, (host: Host) => Platform>> = { local: localPlatform, none: nonePlatform };

/** The platform of a cluster; a section that names none means `local`. */
export function choosePlatform(host: Host, section: Readonly<Record<string, unknown>>): Platform {
  const [, make = localPlatform] = Object.entries(platforms).find(([name]) => section[name] !== undefined) ?? [];
  return make(host);
}

/**
 * The platform of the verbs `machine …` and `doctor`: that of the cluster if it makes machines. For a cluster on platform
 * none, and without a cluster, these verbs are about machines on this host.
 */
export function chooseMachinePlatform(host: Host, section: Readonly<Record<string, unknown>> = {}): Platform {
  const platform = choosePlatform(host, section);
  return platform.createMachines === undefined ? localPlatform(host) : platform;
}
