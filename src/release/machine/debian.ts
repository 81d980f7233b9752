// The Debian of the machines, made by mmdebstrap: it uses apt, so security updates are included, and it takes three
// quarters of debootstrap's time. `dpkg -x` must not be used: it replaces the link /lib by a folder, and nothing boots.
// It runs in its own namespaces and ends with this process: an interrupted build leaves no mounts and no processes.
import { join } from 'node:path';
import { osReleaseFile } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../workflow/digest.ts';
import { goArchitecture, type MakeOptions, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import { runInRoot, runTool } from '../build/run-tool.ts';
import { releaseErrors } from '../errors.ts';
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

const suiteDefault = 'bookworm';
const bootstrapTimeoutMs = 20 * 60_000;

/** Ends the program and all its children when this process ends, and hides its mounts from the host. */
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
  methods: [
    {
      label: 'mmdebstrap',
      inputs: async (builder) => ({
        made: 'mmdebstrap',
        // Increase it when a change of the steps below changes the result.
        format: '3',
        suite: await suiteOf(builder),
        architecture: goArchitecture(builder),
        packages: debianPackages.join(' '),
        setup: digestOf(
          JSON.stringify({ setupFiles, setupLinks, maskedUnits, maskedGenerators, removedPaths, pathsNotInstalled }),
        ),
        ...archivesInput(debianArchives(await suiteOf(builder), builder.host.environment.variables)),
      }),
      make: async (builder, work) => {
        const { host } = builder;
        if (host.environment.uid !== 0) throw releaseErrors.NEEDS_ROOT({ what: 'the machine root' });
        const suite = await suiteOf(builder);
        await ensureDebianPackages(host, {
          packages: ['mmdebstrap', 'debian-archive-keyring'],
          purpose: 'the machine root',
          ...work,
        });
        await bootstrap(builder, suite, work);
        const packages = await installedPackages(host, work.folder);
        await setUp(host, work);
        return { suite, packages };
      },
    },
  ],
};

/** The suite of the host if the host is a Debian, so that its package cache and mirror can be used. */
function suiteOf(builder: ReleaseBuilder): Promise<string> {
  return builder.once('debian suite', async () => {
    const bytes = await builder.host.files.readIfPresent(osReleaseFile);
    const text = bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
    const isDebian = /^ID="?debian"?$/m.test(text);
    return (isDebian ? /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1] : undefined) ?? suiteDefault;
  });
}

/**
 * Lines of sources.list; none without a mirror, because mmdebstrap itself knows Debian's own archives. A mirror of the
 * packages has no security updates: those come from their own archive, or from a mirror of that.
 */
export function debianArchives(
  suite: string,
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { FIRSTLIGHT_DEBIAN_MIRROR: mirror, FIRSTLIGHT_DEBIAN_SECURITY_MIRROR: securityMirror } = variables;
  if (mirror === undefined && securityMirror === undefined) return [];
  const packages = mirror ?? 'http://deb.debian.org/debian';
  const security = securityMirror ?? 'http://security.debian.org/debian-security';
  return [
    `deb ${packages} ${suite} main`,
    `deb ${packages} ${suite}-updates main`,
    `deb ${security} ${suite}-security main`,
  ];
}

/** A root from other archives is another root. */
function archivesInput(archives: readonly string[]): { readonly archives?: string } {
  return archives.length === 0 ? {} : { archives: archives.join('\n') };
}

async function bootstrap(builder: ReleaseBuilder, suite: string, work: MakeOptions): Promise<void> {
  const command = [
    ...ownNamespaces,
    'mmdebstrap',
    '--mode=root',
    '--variant=minbase',
    `--architectures=${goArchitecture(builder)}`,
    `--include=${debianPackages.join(',')}`,
    '--aptopt=Acquire::Languages "none"',
    ...pathsNotInstalled.map((line) => `--dpkgopt=${line}`),
    suite,
    work.folder,
    ...debianArchives(suite, builder.host.environment.variables),
  ];
  await runTool(builder.host, `Debian ${suite}`, command, {
    signal: work.signal,
    timeoutMs: bootstrapTimeoutMs,
    onLine: (line) => {
      if (line.startsWith('I: ')) work.report(line.slice(3));
    },
  });
}

async function setUp(host: Host, { folder, signal }: MakeOptions): Promise<void> {
  const { files } = host;
  for (const path of removedPaths) await files.remove(join(folder, path));
  // apt and dpkg need these folders, even if they are empty.
  for (const path of ['var/cache/apt/archives/partial', 'var/lib/apt/lists/partial', 'var/cache/debconf']) {
    await files.makeFolder(join(folder, path));
  }
  for (const { path, text, mode } of setupFiles) {
    await files.makeFolder(join(folder, path, '..'));
    await files.write(join(folder, path), text, { mode: mode ?? 0o644 });
  }
  // Empty, so that each machine gets its own identity at its first start.
  await files.write(join(folder, 'etc/machine-id'), '', { mode: 0o444 });
  const command = ['systemctl', 'preset-all'];
  await runInRoot(host, { folder, command, part: `Debian (${command.join(' ')})`, signal });
  // After the presets, which do not remove the links of a unit that is already masked.
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
