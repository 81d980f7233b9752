// Runs in a machine: looks at everything that can keep it from joining, all at once, each with its own short limit. It
// leaves no change behind and uses up no token.
import { join } from 'node:path';
import { containerdFolder, etcdDataFolder, machineStateFolder, resolverFile } from '../../contract/machine-paths.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { attempt, failedAttempt } from './failed-attempt.ts';
import type { InsideFacts } from './inside-facts.ts';
import { lookAtEtcd } from './look-at-etcd.ts';
import { lookAtImages } from './look-at-images.ts';
import { askAsPointed } from './look-at-pointer.ts';

export interface LookInside {
  /** Names that this machine must be able to resolve. */
  readonly names: readonly string[];
  /** The address of the load balancer. */
  readonly balancer: string;
  readonly ports: readonly number[];
  /** Addresses of the other control-plane machines, where this is one. */
  readonly etcdPeers: readonly string[];
}

/** A resolver gives up after two attempts of five seconds; this is shorter. */
const lookupMs = 6_000;
const connectMs = 3_000;

export async function lookInside(host: Host, { names, balancer, ports, etcdPeers }: LookInside): Promise<InsideFacts> {
  const [nameServers, looked, reached, serving, pointer, disks, images, etcd, units] = await Promise.all([
    readNameServers(host),
    Promise.all(names.map((name) => lookUp(host, name))),
    Promise.all(
      ports.map(async (port) => ({ port, ...(await attempt(host.network.probe(balancer, port, connectMs))) })),
    ),
    Promise.all(ports.map((port) => attempt(host.network.probe('127.0.0.1', port, connectMs)))),
    askAsPointed(host, balancer),
    lookAtDisks(host),
    lookAtImages(host),
    lookAtEtcd(host, etcdPeers),
    lookAtUnits(host),
  ]);
  return {
    now: host.clock.now().toISOString(),
    nameServers: [...nameServers],
    names: looked,
    ports: reached,
    serves: ports.filter((_port, index) => serving[index]?.failure === undefined),
    ...(pointer === undefined ? {} : { pointer }),
    disks: [...disks],
    ...(images === undefined ? {} : { images }),
    ...(etcd === undefined ? {} : { etcd }),
    units: [...units],
  };
}

async function lookUp(host: Host, name: string): Promise<InsideFacts['names'][number]> {
  const over = new AbortController();
  const tooLong = host.clock.sleep(lookupMs, over.signal).then((): never => {
    throw hostErrors.NETWORK({ target: name, failure: 'timeout', reason: 'the name server does not answer' });
  });
  try {
    return { name, addresses: [...(await Promise.race([host.network.resolve(name), tooLong]))] };
  } catch (error) {
    return { name, addresses: [], ...failedAttempt(error) };
  } finally {
    over.abort(new Error('the look is over'));
    await tooLong.catch(() => {});
  }
}

async function readNameServers(host: Host): Promise<readonly string[]> {
  const content = await host.files.readIfPresent(resolverFile).catch(() => undefined);
  const text = Buffer.from(content ?? new Uint8Array()).toString('utf8');
  return [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address = '']) => address);
}

type Disk = InsideFacts['disks'][number];

/** Only a write shows a lack of inodes or quota, so 64 KiB are written and removed again. */
const writtenFolders = [etcdDataFolder, '/var/lib/kubelet', containerdFolder, machineStateFolder, '/var/log', '/tmp'];
const diskProbe = new Uint8Array(64 * 1024);

async function lookAtDisks(host: Host): Promise<readonly Disk[]> {
  const disks = await Promise.all(writtenFolders.map((path) => lookAtDisk(host, path)));
  return disks.filter((disk) => disk !== undefined);
}

async function lookAtDisk({ files }: Host, path: string): Promise<Disk | undefined> {
  if ((await files.facts(path)) === undefined) return undefined;
  const freeBytes = await files.freeBytes(path);
  const file = join(path, '.firstlight-disk-probe');
  try {
    await files.write(file, diskProbe, { mode: 0o600, isDurable: false });
    return { path, freeBytes };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return { path, freeBytes, problem: error.message };
  } finally {
    await files.remove(file).catch(() => {});
  }
}

type Unit = InsideFacts['units'][number];

const watchedUnits = [
  'containerd',
  'kubelet',
  'firstlight-agent',
  'machine-config-server',
  'bootkube',
  'kube-proxy',
].map((name) => `${name}.service`);

async function lookAtUnits(host: Host): Promise<readonly Unit[]> {
  const properties = '--property=Id,LoadState,ActiveState,SubState,NRestarts';
  const text = await outputOf(host, 'systemctl', ['show', properties, ...watchedUnits]);
  const found = text
    .split('\n\n')
    .map((block) => new Map(block.split('\n').map((line) => [line.split('=')[0] ?? '', line.replace(/^[^=]*=/, '')])))
    .filter((unit) => unit.get('LoadState') === 'loaded');
  return Promise.all(
    found.map(async (unit) => {
      const name = unit.get('Id') ?? '';
      const active = unit.get('ActiveState') ?? '';
      const isWell = active === 'active' || active === 'inactive';
      const lastWords = isWell ? '' : await outputOf(host, 'journalctl', ['-q', '-o', 'cat', '-n', '1', '-u', name]);
      return { name, active, sub: unit.get('SubState') ?? '', restarts: Number(unit.get('NRestarts') ?? 0), lastWords };
    }),
  );
}

/** What the program printed; nothing where it is not installed. */
async function outputOf(host: Host, program: string, args: readonly string[]): Promise<string> {
  try {
    return (await host.processes.run(program, args, { timeoutMs: 5_000 })).stdout.trim();
  } catch (error) {
    if (isError(error, hostErrors.PROGRAM_MISSING)) return '';
    throw error;
  }
}
