// The programs of this host that machines need, and the Debian packages that carry them.
import type { Host } from '../../host/host.ts';
import type { Emit } from '../../workflow/events.ts';
import { platformErrors } from '../errors.ts';

export const hostPrograms = [
  { program: 'systemd-nspawn', package: 'systemd-container', use: 'runs a machine' },
  { program: 'ip', package: 'iproute2', use: 'makes network namespaces' },
  { program: 'nft', package: 'nftables', use: 'empties a machine’s packet filter when it reboots' },
  { program: 'haproxy', package: 'haproxy', use: 'is the load balancer' },
  { program: 'nsenter', package: 'util-linux', use: 'goes into a machine' },
  { program: 'unshare', package: 'util-linux', use: 'gives a machine its own mounts' },
  { program: 'mount', package: 'mount', use: 'mounts a machine’s root' },
  { program: 'find', package: 'findutils', use: 'removes control groups' },
] as const;

export function missingPackages(programs: Readonly<Record<string, string | undefined>>): readonly string[] {
  const missing = hostPrograms.filter(({ program }) => programs[program] === undefined);
  return [...new Set(missing.map((entry) => entry.package))].sort();
}

export interface InstallOptions {
  readonly packages: readonly string[];
  readonly hasHostSystemd: boolean;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Installs Debian packages; refreshes apt's lists only when the first attempt does not find them. */
export async function installPackages(host: Host, options: InstallOptions): Promise<void> {
  const { packages, emit } = options;
  emit({ kind: 'notice', level: 'info', text: `installing ${packages.join(', ')}` });
  const apt = (args: readonly string[]) =>
    host.processes.run('apt-get', args, {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      timeoutMs: 600_000,
      signal: options.signal,
    });
  const install = ['install', '--yes', '--no-install-recommends', ...packages];
  let result = await apt(install);
  if (result.code !== 0) {
    await apt(['update', '--quiet']);
    result = await apt(install);
  }
  if (result.code !== 0) {
    const reason = result.stderr.trim().split('\n').at(-1) ?? 'apt-get failed';
    throw platformErrors.PACKAGES({ packages, reason });
  }
  // Debian starts what it installs; this host did not ask for an haproxy of its own.
  if (packages.includes('haproxy') && options.hasHostSystemd) {
    await host.processes.run('systemctl', ['disable', '--now', 'haproxy.service'], { timeoutMs: 30_000 });
  }
}
