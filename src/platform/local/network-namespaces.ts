// The network of a cluster: one namespace is the switch (a bridge that has the gateway address), each machine has its
// own namespace and a veth pair into the switch. Nothing is added to the host's network, and no route leads out.
// Every step is safe to repeat; a half-made network is completed by the next call.
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { platformErrors } from '../errors.ts';
import { hardwareAddress, type MachineNetwork, portName } from './addresses.ts';
import { machineNamespace, namespacePath, switchNamespace } from './cluster-folder.ts';
import { runProgram } from './run-program.ts';

const bridge = 'bridge';
/**
 * A fixed hardware address. Without one a bridge takes the lowest address of its ports and changes it when a machine
 * comes or goes, and then the others send to the old address for seconds. Clusters can share it: each has its own
 * network.
 */
const bridgeAddress = '02:66:69:72:73:74';

export async function ensureSwitch(host: Host, cluster: string, network: MachineNetwork): Promise<void> {
  const namespace = switchNamespace(cluster);
  await ensureNamespace(host, namespace);
  if (!(await hasLink(host, namespace, bridge))) {
    const command = `link add ${bridge} address ${bridgeAddress} type bridge stp_state 0`;
    await runProgram(host, ['ip', '-n', namespace, ...command.split(' ')]);
  }
  await ipBatch(host, namespace, [
    'link set lo up',
    `address replace ${network.switchAddress}/${network.prefixLength} dev ${bridge}`,
    `link set ${bridge} up`,
  ]);
}

/** Input for `ip -batch` in a machine's namespace, also after a reboot has flushed it. */
export function machineNetworkBatch(network: MachineNetwork, address: string): readonly string[] {
  return [
    'link set lo up',
    `address replace ${address}/${network.prefixLength} dev eth0`,
    'link set eth0 up',
    `route replace default via ${network.switchAddress}`,
  ];
}

export interface MachinePort {
  readonly cluster: string;
  readonly machine: string;
  readonly address: string;
  readonly network: MachineNetwork;
}

/** The machine's namespace with its address in it, plugged into the switch. The switch must exist. */
export async function ensureMachinePort(host: Host, port: MachinePort): Promise<void> {
  const namespace = machineNamespace(port.cluster, port.machine);
  const switchName = switchNamespace(port.cluster);
  const cable = portName(port.address);
  await ensureNamespace(host, namespace);
  if (!(await hasLink(host, namespace, 'eth0'))) {
    await removeLink(host, switchName, cable);
    const machineEnd = `name eth0 address ${hardwareAddress(port.address)} netns ${namespace}`;
    const command = `link add ${cable} netns ${switchName} type veth peer ${machineEnd}`;
    await runProgram(host, ['ip', ...command.split(' ')]);
  }
  await ipBatch(host, switchName, [`link set ${cable} master ${bridge}`, `link set ${cable} up`]);
  await ipBatch(host, namespace, machineNetworkBatch(port.network, port.address));
}

export async function removeNamespace(host: Host, namespace: string): Promise<void> {
  if ((await host.files.facts(namespacePath(namespace))) === undefined) return;
  await runProgram(host, ['ip', 'netns', 'delete', namespace]);
}

/** `ip netns` mounts its folder on itself and never unmounts it; it is removed with the last namespace of this host. */
export async function removeNamespaceFolder(host: Host): Promise<void> {
  const names = await host.files.list('/run/netns');
  if (names === undefined || names.length > 0) return;
  await host.processes.run('umount', ['/run/netns'], { timeoutMs: 10_000 });
  await host.processes.run('rmdir', ['/run/netns'], { timeoutMs: 10_000 });
}

/** The namespaces of a cluster that exist right now: the switch and all machines. */
export async function listNamespaces(host: Host, cluster: string): Promise<readonly string[]> {
  const names = (await host.files.list('/run/netns')) ?? [];
  return names.filter((name) => name === switchNamespace(cluster) || name.startsWith(`${switchNamespace(cluster)}.`));
}

async function ensureNamespace(host: Host, namespace: string): Promise<void> {
  if (await isNamespaceUsable(host, namespace)) return;
  // A crash between making the file and mounting the namespace on it leaves an empty file behind.
  await removeNamespace(host, namespace).catch(async (error: unknown) => {
    if (!isError(error, platformErrors.COMMAND)) throw error;
    await host.files.remove(namespacePath(namespace));
  });
  await runProgram(host, ['ip', 'netns', 'add', namespace]).catch(async (error: unknown) => {
    // Another command may just have removed the folder of all namespaces, because its last one was gone.
    if (!isError(error, platformErrors.COMMAND)) throw error;
    await host.files.remove(namespacePath(namespace));
    await runProgram(host, ['ip', 'netns', 'add', namespace]);
  });
}

async function isNamespaceUsable(host: Host, namespace: string): Promise<boolean> {
  if ((await host.files.facts(namespacePath(namespace))) === undefined) return false;
  const result = await host.processes.run('ip', ['-n', namespace, 'link', 'show', 'lo'], { timeoutMs: 10_000 });
  return result.code === 0;
}

async function hasLink(host: Host, namespace: string, link: string): Promise<boolean> {
  const result = await host.processes.run('ip', ['-n', namespace, 'link', 'show', link], { timeoutMs: 10_000 });
  return result.code === 0;
}

/** The kernel destroys a namespace some time after its removal, and only then the veth pair that led into it. */
async function removeLink(host: Host, namespace: string, link: string): Promise<void> {
  const result = await host.processes.run('ip', ['-n', namespace, 'link', 'delete', link], { timeoutMs: 10_000 });
  if (result.code === 0 || !(await hasLink(host, namespace, link))) return;
  throw platformErrors.COMMAND({
    command: `ip -n ${namespace} link delete ${link}`,
    reason: result.stderr.trim(),
  });
}

async function ipBatch(host: Host, namespace: string, lines: readonly string[]): Promise<void> {
  await runProgram(host, ['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}
