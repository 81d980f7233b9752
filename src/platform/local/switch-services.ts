// The processes that belong to a cluster's network: load balancers, name server, the relay from the host's loopback.
// They are detached and found again by their records, whose names contain the digest of the configuration. So any later
// command starts a process that ended and replaces one that runs with an old configuration.
import { join } from 'node:path';
import { waitingFor } from '../../contract/missing.ts';
import { apiPort } from '../../contract/ports.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../workflow/digest.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { platformErrors } from '../errors.ts';
import { appsBalancerConfig } from './apps-balancer.ts';
import { namespacePath, switchFolder, switchNamespace } from './cluster-folder.ts';
import { hostPortConfig, loadBalancerConfig } from './load-balancer.ts';
import { hostPortsOf, type LocalCluster, networkOf } from './local-cluster.ts';
import type { LocalMachine } from './local-machine.ts';
import { nameServerConfig, zoneFile } from './name-server.ts';
import { type OwnProcess, readRecord, recordItself, signalProcess } from './own-process.ts';

interface SwitchService {
  readonly name: 'load-balancer' | 'apps-balancer' | 'name-server' | 'host-port';
  readonly config: string;
  /** The port on which it listens once it has started. */
  readonly port: number;
  readonly isInSwitch: boolean;
  readonly command: (configPath: string, predecessors: readonly number[]) => readonly [string, ...string[]];
  /** The new process takes over the sockets and makes the old one finish; otherwise the old one is ended first. */
  readonly takesOver: boolean;
}

export interface SwitchInput {
  readonly host: Host;
  readonly cluster: LocalCluster;
  readonly machines: readonly LocalMachine[];
  readonly signal: AbortSignal;
}

/** Makes names, load balancer and host port match these machines. */
export async function ensureSwitchServices(input: SwitchInput): Promise<void> {
  const { host, cluster, machines } = input;
  const folder = switchFolder(cluster.name);
  const { switchAddress } = networkOf(cluster);
  const zone = { domain: cluster.domain, switchAddress, machines };
  await host.files.write(join(folder, 'zone'), zoneFile(zone), { isDurable: false });
  const running = await findServices(host, cluster.name);
  await Promise.all(switchServices(cluster, machines).map((service) => ensureService(input, service, running)));
}

function switchServices(cluster: LocalCluster, machines: readonly LocalMachine[]): readonly SwitchService[] {
  const folder = switchFolder(cluster.name);
  const { switchAddress } = networkOf(cluster);
  const haproxy = (configPath: string, predecessors: readonly number[]): readonly [string, ...string[]] => {
    const takeOver = predecessors.length === 0 ? [] : ['-sf', ...predecessors.map(String)];
    return ['haproxy', '-db', '-f', configPath, ...takeOver];
  };
  const balanced = { switchAddress, machines, socketFolder: folder };
  return [
    {
      name: 'load-balancer',
      config: loadBalancerConfig(balanced),
      port: apiPort,
      isInSwitch: true,
      command: haproxy,
      takesOver: true,
    },
    {
      name: 'apps-balancer',
      config: appsBalancerConfig(balanced),
      port: 443,
      isInSwitch: true,
      command: haproxy,
      takesOver: true,
    },
    {
      name: 'host-port',
      config: hostPortConfig({ ports: hostPortsOf(cluster), socketFolder: folder }),
      port: cluster.hostPort,
      isInSwitch: false,
      command: haproxy,
      takesOver: true,
    },
    {
      name: 'name-server',
      config: nameServerConfig({ domain: cluster.domain, switchAddress, machines, zoneFile: join(folder, 'zone') }),
      port: 53,
      isInSwitch: true,
      command: (configPath) => [cluster.coredns, '-conf', configPath],
      takesOver: false,
    },
  ];
}

interface ServiceProcess extends OwnProcess {
  readonly service: string;
  readonly configDigest: string;
}

const recordName = /^([a-z-]+)-([0-9a-f]{12})\.\d+\.process$/;

/** The processes of a cluster's switch, the latest last. */
async function findServices({ files }: Host, cluster: string): Promise<readonly ServiceProcess[]> {
  const folder = switchFolder(cluster);
  const found = ((await files.list(folder)) ?? []).map(async (name) => {
    const [, service = '', configDigest = ''] = recordName.exec(name) ?? [];
    const process = service === '' ? undefined : await readRecord(files, join(folder, name));
    return process && { ...process, service, configDigest };
  });
  const running = (await Promise.all(found)).filter((process) => process !== undefined);
  return running.sort((a, b) => Number(a.startTime) - Number(b.startTime));
}

async function ensureService(
  input: SwitchInput,
  service: SwitchService,
  running: readonly ServiceProcess[],
): Promise<void> {
  const { host, cluster } = input;
  const folder = switchFolder(cluster.name);
  const digest = digestOf(service.config).slice(0, 12);
  const configPath = join(folder, `${service.name}-${digest}.conf`);
  // Of a service that takes over, earlier processes may still be there for connections that they began.
  const old = running.filter((process) => process.service === service.name);
  if (old.at(-1)?.configDigest === digest) return;
  await host.files.write(configPath, service.config, { isDurable: false });
  if (!service.takesOver) for (const process of old) await signalProcess(host, process, 'SIGTERM');
  const command = service.command(
    configPath,
    old.map(({ pid }) => pid),
  );
  const inPlace = service.isInSwitch
    ? ['nsenter', `--net=${namespacePath(switchNamespace(cluster.name))}`, ...command]
    : command;
  const record = `${recordItself('"$0.$$.process"')} && exec "$@"`;
  const logPath = join(folder, `${service.name}.log`);
  const recordPrefix = join(folder, `${service.name}-${digest}`);
  const args = ['-c', record, recordPrefix, ...inPlace];
  const pid = await host.processes.startDetached('sh', args, { cwd: '/', logPath });
  await waitForPort(input, { name: service.name, pid, port: service.port, logPath });
  await removeStaleFiles(host, { folder, service: service.name, digest, pids: [...old.map((o) => o.pid), pid] });
}

/** Configurations but the last one, and records of processes that had already ended. */
async function removeStaleFiles(
  host: Host,
  kept: {
    readonly folder: string;
    readonly service: string;
    readonly digest: string;
    readonly pids: readonly number[];
  },
): Promise<void> {
  const names = ((await host.files.list(kept.folder)) ?? []).filter((name) => name.startsWith(`${kept.service}-`));
  const stale = names.filter((name) => {
    if (name.endsWith('.conf')) return name !== `${kept.service}-${kept.digest}.conf`;
    return name.endsWith('.process') && !kept.pids.some((pid) => name.endsWith(`.${pid}.process`));
  });
  for (const name of stale) await host.files.remove(join(kept.folder, name));
}

interface StartedService {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly logPath: string;
}

async function waitForPort({ host, signal }: SwitchInput, service: StartedService): Promise<void> {
  const failed = async (): Promise<never> => {
    const log = Buffer.from((await host.files.readIfPresent(service.logPath)) ?? new Uint8Array()).toString('utf8');
    const reason = log.trim().split('\n').slice(-3).join(' ') || 'it said nothing';
    throw platformErrors.COMMAND({ command: service.name, reason });
  };
  try {
    await waitUntil({
      clock: host.clock,
      what: `the start of the ${service.name}`,
      deadlineMs: 10_000,
      everyMs: 20,
      signal,
      probe: async () => {
        if (!host.processes.isAlive(service.pid)) return failed();
        if (await listens(host, service.pid, service.port)) return { status: 'ready', value: undefined };
        return { status: 'waiting', missing: [waitingFor('nobody', `listens on port ${service.port}`)] };
      },
    });
  } catch (error) {
    if (isError(error, workflowErrors.DEADLINE)) return failed();
    throw error;
  }
}

/** Whether a process listens on a TCP port in the network namespace of `pid` (proc(5), /proc/net/tcp; state 0A). */
async function listens(host: Host, pid: number, port: number): Promise<boolean> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => host.files.readIfPresent(`/proc/${pid}/net/${name}`).catch(() => undefined)),
  );
  const line = new RegExp(`^ *\\d+: [0-9A-F]+:${hex} [0-9A-F]+:0000 0A `, 'm');
  return tables.some((table) => table !== undefined && line.test(Buffer.from(table).toString('utf8')));
}

export async function isServiceRunning(host: Host, cluster: string, service: SwitchService['name']): Promise<boolean> {
  return (await findServices(host, cluster)).some((process) => process.service === service);
}

/** Ends every process of the switch. */
export async function stopSwitchServices(host: Host, cluster: string, signal: AbortSignal): Promise<void> {
  await waitUntil({
    clock: host.clock,
    what: 'the end of the load balancer and the name server',
    deadlineMs: 10_000,
    everyMs: 20,
    signal,
    probe: async () => {
      const running = await findServices(host, cluster);
      if (running.length === 0) return { status: 'ready', value: undefined };
      for (const process of running) await signalProcess(host, process, 'SIGKILL');
      return { status: 'waiting', missing: [waitingFor('processes', running.map(({ pid }) => pid).join(', '))] };
    },
  });
}
