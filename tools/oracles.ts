// Gets the real tools that judge us: Debian packages by apt, upstream programs by our own release build. Everything is
// linked into one folder, whose path the tests read from FIRSTLIGHT_ORACLE_BIN.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { firstlightVersion } from '../src/cli/frame/program.ts';
import { realHost } from '../src/host/real/real-host.ts';
import { type BuildOptions, buildRelease } from '../src/release/build/build-release.ts';
import { describeEvent } from '../src/screen/reporter.ts';

/** Program → Debian package that brings it. */
const debianTools: Readonly<Record<string, string>> = {
  openssl: 'openssl',
  gpg: 'gnupg',
  gpgv: 'gpgv',
  curl: 'curl',
  // Pushes to the registry of a cluster, as people do.
  skopeo: 'skopeo',
  'ssh-keygen': 'openssh-client',
  // Its library makes a machine's clock wrong.
  faketime: 'faketime',
  'dbus-daemon': 'dbus',
  'systemd-analyze': 'systemd',
  haproxy: 'haproxy',
  'update-ca-certificates': 'ca-certificates',
  // Shows the rules of the host, which must be the same before and after.
  nft: 'nftables',
  // Payloads of the in-place bootstrapper: what runs and judges them, and what makes repositories for them.
  'ansible-playbook': 'ansible-core',
  'ansible-lint': 'ansible-lint',
  'apt-ftparchive': 'apt-utils',
  dnf: 'dnf',
  createrepo_c: 'createrepo-c',
  rpmbuild: 'rpm',
  // No program, but a module of Python that ansible's module for apt needs.
  '../lib/python3/dist-packages/apt': 'python3-apt',
};

/** Parts of the release (and the batch form of Ignition, which is never released) that tests run as plain programs. */
const parts = ['ignition', 'ignition-validate', 'ignition-oracle', 'etcd', 'containerd', 'kubernetes', 'distribution'];

/** True when every oracle is there; says what is missing otherwise. */
export async function prepareOracles(): Promise<boolean> {
  if (!installDebianTools()) return false;
  const built = await build({ withMachines: false, onlyParts: parts });
  const folder = resolve('.check/oracles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { content } of built.entries) {
    const bin = join(content, 'bin');
    for (const name of readdirSync(bin)) symlinkSync(join(bin, name), join(folder, name));
  }
  process.env['FIRSTLIGHT_ORACLE_BIN'] = folder;
  return true;
}

/** The whole release, machine root included: what the tests on real machines boot. */
export async function prepareRelease(): Promise<boolean> {
  await build({ withMachines: true });
  return true;
}

function build(what: Pick<BuildOptions, 'withMachines' | 'onlyParts'>): ReturnType<typeof buildRelease> {
  return buildRelease({
    host: realHost(),
    emit: (event) => {
      const { level, text } = describeEvent(event);
      if (level !== 'debug') console.log(text);
    },
    signal: new AbortController().signal,
    version: firstlightVersion,
    projectFolder: resolve('.'),
    source: 'any',
    ...what,
  });
}

function installDebianTools(): boolean {
  const missing = Object.entries(debianTools).filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return true;
  const packages = missing.map(([, name]) => name);
  console.log(`installing ${packages.join(', ')}`);
  spawnSync('apt-get', ['update'], { stdio: 'ignore' });
  const result = spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.status !== 0) console.error(`apt-get could not install ${packages.join(', ')}`);
  return result.status === 0;
}

function isInstalled(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.some((folder) => existsSync(join(folder, program)));
}
