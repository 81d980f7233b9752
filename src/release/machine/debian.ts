// The Debian that machines run, by mmdebstrap: it resolves with apt, so security updates are in from the start, and
// it took three quarters of debootstrap's time here. Never `dpkg -x`: that replaces /lib by a folder and nothing boots.
// It runs in namespaces of its own and dies with us, so that an interrupted build leaves no mounts and no processes.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../workflow/digest.ts';
import { tailOf } from '../build/build-output.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import {
  debianPackages,
  maskedGenerators,
  maskedUnits,
  pathsNotInstalled,
  removedPaths,
  setupFiles,
  setupLinks,
} from './debian-setup.ts';
import { releaseErrors } from '../errors.ts';
import { goArchitecture } from '../parts/architecture.ts';
import type { Recipe, Work, Workshop } from '../build/workshop.ts';
import { inRoot } from './in-root.ts';

const suiteDefault = 'bookworm';
const limitMs = 20 * 60_000;

/** Ends the program and everything it started when we end, and keeps its mounts out of the host's view. */
export const ownNamespaces = [
  'setpriv',
  '--pdeathsig',
  'KILL',
  'unshare',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child=KILL',
];

export const debianRecipe: Recipe = {
  kind: 'debian',
  name: 'base',
  why: 'Machines need an init, a container runtime and the tools that the kubelet calls.',
  estimateSeconds: 75,
  recordsOwners: true,
  ways: [
    {
      label: 'mmdebstrap',
      inputs: async (shop) => ({
        made: 'mmdebstrap',
        // Raise it when the steps below change what comes out.
        format: '3',
        suite: await suiteOf(shop),
        architecture: goArchitecture(shop),
        packages: debianPackages.join(' '),
        setup: digestOf(
          JSON.stringify({ setupFiles, setupLinks, maskedUnits, maskedGenerators, removedPaths, pathsNotInstalled }),
        ),
      }),
      make: async (shop, work) => {
        const { host } = shop;
        if (host.environment.uid !== 0) throw releaseErrors.NEEDS_ROOT({ what: 'the machine root' });
        const suite = await suiteOf(shop);
        await ensureDebianPackages(host, {
          packages: ['mmdebstrap', 'debian-archive-keyring'],
          purpose: 'the machine root',
          ...work,
        });
        await bootstrap(shop, suite, work);
        const packages = await installedPackages(host, work.folder);
        await setUp(host, work);
        return { suite, packages };
      },
    },
  ],
};

/** The host's own suite where the host is a Debian, so that its package cache and mirror settings serve both. */
function suiteOf(shop: Workshop): Promise<string> {
  return shop.once('debian suite', async () => {
    const bytes = await shop.host.files.readIfPresent('/etc/os-release');
    const text = bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
    const isDebian = /^ID="?debian"?$/m.test(text);
    return (isDebian ? /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1] : undefined) ?? suiteDefault;
  });
}

async function bootstrap(shop: Workshop, suite: string, work: Work): Promise<void> {
  // Without a mirror mmdebstrap takes Debian's own, with its updates and its security archive.
  const mirror = shop.host.environment.variables['FIRSTLIGHT_DEBIAN_MIRROR'];
  const [program = '', ...wrapper] = ownNamespaces;
  const args = [
    ...wrapper,
    'mmdebstrap',
    '--mode=root',
    '--variant=minbase',
    `--architectures=${goArchitecture(shop)}`,
    `--include=${debianPackages.join(',')}`,
    '--aptopt=Acquire::Languages "none"',
    ...pathsNotInstalled.map((line) => `--dpkgopt=${line}`),
    suite,
    work.folder,
    ...(mirror === undefined ? [] : [`deb ${mirror} ${suite} main`, `deb ${mirror} ${suite}-updates main`]),
  ];
  const result = await shop.host.processes.run(program, args, {
    signal: work.signal,
    timeoutMs: limitMs,
    onLine: (line) => {
      if (line.startsWith('I: ')) work.report(line.slice(3));
    },
  });
  if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part: `Debian ${suite}`, reason: tailOf(result) });
}

async function setUp(host: Host, { folder, signal }: Work): Promise<void> {
  const { files } = host;
  for (const path of removedPaths) await files.remove(join(folder, path));
  // apt and dpkg expect these folders, empty or not.
  for (const path of ['var/cache/apt/archives/partial', 'var/lib/apt/lists/partial', 'var/cache/debconf']) {
    await files.makeFolder(join(folder, path));
  }
  for (const { path, text, mode } of setupFiles) {
    await files.makeFolder(join(folder, path, '..'));
    await files.write(join(folder, path), text, { mode: mode ?? 0o644 });
  }
  // Empty: each machine gets its own identity at its first start.
  await files.write(join(folder, 'etc/machine-id'), '', { mode: 0o444 });
  const command = ['systemctl', 'preset-all'];
  await inRoot(host, { folder, command, part: `Debian (${command.join(' ')})`, signal });
  // After the presets: they would leave the links of a unit that is masked already.
  const masks = [
    ...maskedUnits.map((unit) => [`etc/systemd/system/${unit}`, '/dev/null'] as const),
    ...maskedGenerators.map((name) => [`etc/systemd/system-generators/${name}`, '/dev/null'] as const),
  ];
  for (const [path, target] of [...masks, ...Object.entries(setupLinks)]) {
    await files.makeFolder(join(folder, path, '..'));
    await files.remove(join(folder, path));
    await files.symlink(target, join(folder, path));
  }
}

async function installedPackages(host: Host, folder: string): Promise<Record<string, string>> {
  const args = ['--admindir', join(folder, 'var/lib/dpkg'), '-W', '-f', '${Package}\t${Version}\n'];
  const { stdout } = await host.processes.run('dpkg-query', args, { timeoutMs: 60_000 });
  const rows = stdout.split('\n').flatMap((line) => {
    const [name, version] = line.split('\t');
    return name === undefined || version === undefined ? [] : [[name, version] as const];
  });
  return Object.fromEntries(rows);
}
