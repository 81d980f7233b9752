// The processes that belong to a cluster's network: load balancer, name server, the relay from the host's loopback.
// They are detached and found again by the configuration file on their command line, whose name is the digest of its
// content. So any later command starts a process that ended and replaces one that runs with an old configuration.
import { basename, dirname, join } from 'node:path';
import { waitingFor } from '../../contract/missing.ts';
import { apiPort } from '../../contract/ports.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../workflow/digest.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { platformErrors } from '../errors.ts';
import { namespacePath, switchFolder, switchNamespace } from './cluster-folder.ts';
import { hostPortConfig, loadBalancerConfig } from './load-balancer.ts';
import { type LocalCluster, networkOf } from './local-cluster.ts';
import type { LocalMachine } from './local-machine.ts';
import { nameServerConfig, zoneFile } from './name-server.ts';
import { type ProcessEntry, readProcessTable } from './process-table.ts';

interface SwitchService {
  readonly name: 'load-balancer' | 'name-server' | 'host-port';
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
  const table = await readProcessTable(host.files);
  await Promise.all(switchServices(cluster, machines).map((service) => ensureService(input, service, table)));
}

function switchServices(cluster: LocalCluster, machines: readonly LocalMachine[]): readonly SwitchService[] {
  const folder = switchFolder(cluster.name);
  const apiSocket = join(folder, 'api.sock');
  const { switchAddress } = networkOf(cluster);
  const haproxy = (configPath: string, predecessors: readonly number[]): readonly [string, ...string[]] => {
    const takeOver = predecessors.length === 0 ? [] : ['-sf', ...predecessors.map(String)];
    return ['haproxy', '-db', '-f', configPath, ...takeOver];
  };
  return [
    {
      name: 'load-balancer',
      config: loadBalancerConfig({ switchAddress, machines, apiSocket }),
      port: apiPort,
      isInSwitch: true,
      command: haproxy,
      takesOver: true,
    },
    {
      name: 'host-port',
      config: hostPortConfig({ hostPort: cluster.hostPort, apiSocket }),
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

async function ensureService(
  input: SwitchInput,
  service: SwitchService,
  table: readonly ProcessEntry[],
): Promise<void> {
  const { host, cluster } = input;
  const folder = switchFolder(cluster.name);
  const prefix = join(folder, `${service.name}-`);
  const configPath = `${prefix}${digestOf(service.config).slice(0, 12)}.conf`;
  if (table.some((entry) => entry.args.includes(configPath))) return;
  const old = table.filter((entry) => entry.args.some((arg) => arg.startsWith(prefix))).map((entry) => entry.pid);
  await host.files.write(configPath, service.config, { isDurable: false });
  if (!service.takesOver) for (const pid of old) host.processes.kill(pid, 'SIGTERM');
  const command = service.command(configPath, old);
  const [program, ...args] = service.isInSwitch
    ? (['nsenter', `--net=${namespacePath(switchNamespace(cluster.name))}`, ...command] as const)
    : command;
  const logPath = join(folder, `${service.name}.log`);
  const pid = await host.processes.startDetached(program, args, { cwd: '/', logPath });
  await waitForPort(input, { name: service.name, pid, port: service.port, logPath });
  await removeOtherConfigs(host, { folder, prefix, configPath });
}

async function removeOtherConfigs(
  host: Host,
  paths: { readonly folder: string; readonly prefix: string; readonly configPath: string },
): Promise<void> {
  const found = ((await host.files.list(paths.folder)) ?? []).map((name) => join(paths.folder, name));
  const stale = found.filter(
    (path) => path.startsWith(paths.prefix) && path.endsWith('.conf') && path !== paths.configPath,
  );
  for (const path of stale) await host.files.remove(path);
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

/** Whether a process of this service is in the table. */
export function isServiceRunning(
  table: readonly ProcessEntry[],
  cluster: string,
  service: SwitchService['name'],
): boolean {
  const prefix = join(switchFolder(cluster), `${service}-`);
  return table.some((entry) => isSwitchService(entry, cluster) && entry.args.some((arg) => arg.startsWith(prefix)));
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
      const table = await readProcessTable(host.files);
      const pids = table.filter((entry) => isSwitchService(entry, cluster)).map((entry) => entry.pid);
      if (pids.length === 0) return { status: 'ready', value: undefined };
      for (const pid of pids) host.processes.kill(pid, 'SIGKILL');
      return { status: 'waiting', missing: [waitingFor('processes', pids.join(', '))] };
    },
  });
}

/** By program and configuration file, so that an editor or pager that has one of the files open is not ended. */
function isSwitchService(entry: ProcessEntry, cluster: string): boolean {
  const program = basename(entry.args[0] ?? '');
  if (program !== 'haproxy' && program !== 'coredns') return false;
  return entry.args.some((arg) => dirname(arg) === switchFolder(cluster) && arg.endsWith('.conf'));
}
