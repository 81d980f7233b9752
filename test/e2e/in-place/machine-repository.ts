// A real, signed apt repository for machines of a cluster, served inside the cluster's network: what a payload needs of
// Debian (ansible and its dependencies, rsyslog, logrotate, auditd), downloaded once by this host's own apt, and newer
// versions of two samples, one of which stands for a kernel.
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  aptKey,
  aptSource,
  makeDeb,
  type SamplePackage,
  signAptRepository,
} from '../../oracle/payload/package-repository.ts';
import { inside } from '../machine-lab.ts';

const wanted = ['ansible-core', 'python3-apt', 'rsyslog', 'logrotate', 'auditd'];
const samples = ['ipb-sample', 'linux-image-sample'] as const;

function sample(name: string, version: string): SamplePackage {
  return { name, version, files: { [`/opt/ipb/${name}`]: `${version}\n` } };
}

export interface MachineRepository {
  readonly url: string;
  /** From now on it has a version of a sample whose installation fails. */
  readonly addBroken: () => void;
  readonly stop: () => void;
}

/** `gateway`: the address of this host in the cluster's network. */
export async function serveMachineRepository(
  folder: string,
  { cluster, machine, gateway }: { readonly cluster: string; readonly machine: string; readonly gateway: string },
): Promise<MachineRepository> {
  const repository = join(folder, 'apt');
  mkdirSync(repository, { recursive: true });
  await downloadFor(cluster, machine, repository);
  for (const name of samples) {
    const older = makeDeb(join(repository), sample(name, '1.0'));
    const content = execFileSync('base64', ['-w0', older], { encoding: 'utf8' });
    await inside(cluster, machine, `echo ${content} | base64 -d > /tmp/p.deb && dpkg -i /tmp/p.deb && rm /tmp/p.deb`);
    rmSync(older);
    makeDeb(repository, sample(name, '2.0'));
  }
  signAptRepository(repository);
  const script = resolve('test/e2e/in-place/package-server.ts');
  const server = spawn(
    'nsenter',
    [`--net=/run/netns/firstlight.${cluster.toLowerCase()}`, process.execPath, script, repository, gateway],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const url = await new Promise<string>((done) => server.stdout.once('data', (line) => done(String(line).trim())));
  const key = aptKey(repository).toString('base64');
  await inside(
    cluster,
    machine,
    [
      `echo ${key} | base64 -d > /etc/apt/ipb.gpg`,
      'rm -f /etc/apt/sources.list.d/*',
      `printf '%s' '${aptSource(url)}' > /etc/apt/sources.list`,
    ].join(' && '),
  );
  const addBroken = (): void => {
    makeDeb(repository, { ...sample('ipb-sample', '3.0'), afterwards: 'echo this disk is not good enough; exit 1' });
    signAptRepository(repository);
  };
  return { url, addBroken, stop: () => void server.kill() };
}

/** What is missing on this very machine, by its own list of packages; kept in `.check` for the next run. */
async function downloadFor(cluster: string, machine: string, repository: string): Promise<void> {
  const kept = resolve('.check/machine-packages');
  mkdirSync(join(kept, 'partial'), { recursive: true });
  const status = join(repository, '..', 'dpkg-status');
  execFileSync('sh', ['-c', `cat > ${status}`], { input: await inside(cluster, machine, 'cat /var/lib/dpkg/status') });
  const options = [`Dir::State::status=${status}`, `Dir::Cache::archives=${kept}`, 'APT::Sandbox::User=root'];
  const args = [
    '-q',
    '-y',
    '--no-install-recommends',
    '--download-only',
    ...options.flatMap((option) => ['-o', option]),
  ];
  execFileSync('apt-get', [...args, 'install', ...wanted], { stdio: ['ignore', 'ignore', 'inherit'] });
  for (const name of readdirSync(kept)) {
    if (name.endsWith('.deb')) copyFileSync(join(kept, name), join(repository, name));
  }
}
