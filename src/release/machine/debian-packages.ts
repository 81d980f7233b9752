// Debian packages of the host: which are installed, and the installation of missing ones if we are root.
import type { Host } from '../../host/host.ts';
import { releaseErrors } from '../errors.ts';

export interface PackagesNeeded {
  readonly packages: readonly string[];
  /** The subject of the sentence "… needs Debian packages". */
  readonly purpose: string;
  readonly signal?: AbortSignal;
  readonly report?: (progress: string) => void;
}

const minutes = 60_000;

/** Versions of the installed packages by name. */
export async function packageVersions(host: Host, packages: readonly string[]): Promise<Record<string, string>> {
  if (packages.length === 0 || (await host.processes.find('dpkg-query')) === undefined) return {};
  const args = ['-W', '-f', '${db:Status-Abbrev}\t${Package}\t${Version}\n', ...packages];
  const { stdout } = await host.processes.run('dpkg-query', args, { timeoutMs: minutes });
  const rows = stdout.split('\n').map((line) => line.split('\t'));
  return Object.fromEntries(
    rows.filter(([status]) => status?.startsWith('ii')).map(([, name, version]) => [name, version]),
  );
}

/** As root on a Debian-like host installs missing packages; not as root it throws PACKAGES_MISSING. */
export async function ensureDebianPackages(host: Host, needed: PackagesNeeded): Promise<void> {
  const installed = await packageVersions(host, needed.packages);
  const missing = needed.packages.filter((name) => installed[name] === undefined);
  if (missing.length === 0) return;
  const isDebian = (await host.processes.find('apt-get')) !== undefined;
  // Another distribution may have the same files in packages with other names: the compiler will find out.
  if (!isDebian) return;
  if (host.environment.uid !== 0) throw releaseErrors.PACKAGES_MISSING({ ...needed, packages: missing });
  needed.report?.(`installing ${missing.join(', ')}`);
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (await aptGet(host, install, needed.signal)) return;
  await aptGet(host, ['update'], needed.signal);
  if (!(await aptGet(host, install, needed.signal))) {
    throw releaseErrors.PACKAGES_MISSING({ ...needed, packages: missing });
  }
}

async function aptGet(host: Host, args: readonly string[], signal?: AbortSignal): Promise<boolean> {
  const result = await host.processes.run('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    timeoutMs: 10 * minutes,
    ...(signal === undefined ? {} : { signal }),
  });
  return result.code === 0;
}
