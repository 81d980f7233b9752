// Debian packages of the host: which are there, and installing what is missing where we may.
import type { Host } from '../../host/host.ts';
import { releaseErrors } from '../errors.ts';

export interface PackagesNeeded {
  readonly packages: readonly string[];
  /** Who needs them, as the subject of "… needs Debian packages". */
  readonly purpose: string;
  readonly signal?: AbortSignal;
  readonly report?: (progress: string) => void;
}

const minutes = 60_000;

/** Versions by name, of those that are installed. */
export async function packageVersions(host: Host, packages: readonly string[]): Promise<Record<string, string>> {
  if (packages.length === 0 || (await host.processes.find('dpkg-query')) === undefined) return {};
  const args = ['-W', '-f', '${db:Status-Abbrev}\t${Package}\t${Version}\n', ...packages];
  const { stdout } = await host.processes.run('dpkg-query', args, { timeoutMs: minutes });
  const rows = stdout.split('\n').map((line) => line.split('\t'));
  return Object.fromEntries(
    rows.filter(([status]) => status?.startsWith('ii')).map(([, name, version]) => [name, version]),
  );
}

/** Installs what is missing as root on a Debian-like host; anywhere else says what to install. */
export async function ensureDebianPackages(host: Host, needed: PackagesNeeded): Promise<void> {
  const installed = await packageVersions(host, needed.packages);
  const missing = needed.packages.filter((name) => installed[name] === undefined);
  if (missing.length === 0) return;
  const isDebian = (await host.processes.find('apt-get')) !== undefined;
  // On another distribution the files may be there under other package names: let the compiler judge.
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
