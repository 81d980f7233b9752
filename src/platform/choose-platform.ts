// The one place that knows which platforms there are.
import type { Host } from '../host/host.ts';
import { localPlatform } from './local/local-platform.ts';
import { nonePlatform } from './none/none-platform.ts';
import type { Platform } from './platform.ts';
import { type PlatformSection, rowOfPlatform } from './platform-traits.ts';

/** The platform of a cluster. */
export function choosePlatform(host: Host, section: PlatformSection): Platform {
  return rowOfPlatform({ local: localPlatform, none: nonePlatform }, section)(host);
}

/**
 * The platform of the verbs `machine …` and `doctor`: that of the cluster if it can make machines. For a cluster on
 * platform none, and without a cluster, these verbs are about machines on this host.
 */
export function chooseMachinePlatform(host: Host, section: PlatformSection = {}): Platform {
  const platform = choosePlatform(host, section);
  return platform.createMachines === undefined ? localPlatform(host) : platform;
}
