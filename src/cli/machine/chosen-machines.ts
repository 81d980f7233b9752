// Which cluster and which machines a verb is about, the wait for their boot, and the table that shows them.
import { platformNameOf, readClusterMetadata } from '../../contract/cluster-metadata.ts';
import { firstBootWait } from '../../contract/first-boot-status.ts';
import { chooseMachinePlatform } from '../../platform/choose-platform.ts';
import { clusterName, type ObservedMachine } from '../../platform/machine.ts';
import { ableTo, type Platform } from '../../platform/platform.ts';
import { waitForBoot } from '../../platform/wait-for-boot.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

export interface ChosenCluster {
  readonly platform: Platform;
  readonly cluster: string;
}

/** --cluster, else the cluster of the asset folder, else `default`. */
export async function chosenCluster({
  host,
  options,
  global,
}: Invocation<unknown, { readonly cluster: string | undefined }>): Promise<ChosenCluster> {
  const { cluster } = options;
  if (cluster !== undefined) return { platform: chooseMachinePlatform(host), cluster };
  const metadata = await readClusterMetadata(host.files, global.dir);
  if (metadata === undefined) return { platform: chooseMachinePlatform(host), cluster: 'default' };
  const platform = chooseMachinePlatform(host, metadata.platform);
  return { platform, cluster: clusterName.parse(platformNameOf(metadata)) };
}

/** The machines named, or all of them with --all; naming none is a usage error. */
export async function chosenMachines(
  { args, options }: Invocation<{ readonly names: readonly string[] }, { readonly all: boolean }>,
  { platform, cluster }: ChosenCluster,
): Promise<readonly string[]> {
  if (options.all) return (await platform.listMachines(cluster)).map((machine) => machine.name);
  if (args.names.length > 0) return args.names;
  throw cliErrors.USAGE({ command: 'firstlight machine', reason: 'name the machines, or say --all' });
}

/** Waits unless --no-wait was given, and says, one line per change, what the machines are still doing. */
export async function tableAfterBoot(
  { host, signal, emit, options }: Invocation<unknown, { readonly wait: boolean; readonly timeout: number }>,
  chosen: ChosenCluster,
  names: readonly string[],
): Promise<CommandResult> {
  if (!options.wait) return listedMachines(chosen, names);
  const said = new Set<string>();
  await waitForBoot({
    ...chosen,
    names,
    deadlineMs: options.timeout * 1000,
    host,
    signal,
    onWaiting: (machines) => {
      for (const { name, firstBoot } of machines) {
        const wait = firstBoot === undefined ? undefined : firstBootWait(firstBoot);
        const text = `${name}: ${wait}`;
        if (wait === undefined || said.has(text)) continue;
        said.add(text);
        emit({ kind: 'notice', level: 'info', text });
      }
    },
  });
  return listedMachines(chosen, names);
}

export interface ListedMachine extends ObservedMachine {
  readonly cluster: string;
  readonly diskBytes?: number;
}

export async function listMachinesOf(
  { platform, cluster }: ChosenCluster,
  { disk = false }: { readonly disk?: boolean } = {},
): Promise<readonly ListedMachine[]> {
  const machines = (await platform.observeMachines(cluster)).map((machine) => ({ ...machine, cluster }));
  if (!disk) return machines;
  const diskBytes = ableTo(platform, 'diskBytes');
  return Promise.all(
    machines.map(async (machine) => ({ ...machine, diskBytes: await diskBytes({ cluster, machine: machine.name }) })),
  );
}

/** These machines of a cluster, as a table. */
export async function listedMachines(chosen: ChosenCluster, names: readonly string[]): Promise<CommandResult> {
  return machineTable((await listMachinesOf(chosen)).filter((machine) => names.includes(machine.name)));
}

export function machineTable(machines: readonly ListedMachine[]): CommandResult {
  const data = machines.map(({ leaderPid = null, ...machine }) => ({ ...machine, leaderPid }));
  if (machines.length === 0) return { data, text: 'no machines\n' };
  const hasSeveral = new Set(machines.map((machine) => machine.cluster)).size > 1;
  const hasDisk = machines.some((machine) => machine.diskBytes !== undefined);
  const rows = machines.map((machine) => [
    ...(hasSeveral ? [machine.cluster] : []),
    machine.name,
    machine.role,
    machine.address,
    machine.state,
    ...(hasDisk ? [`${Math.ceil((machine.diskBytes ?? 0) / 1e6)} MB`] : []),
    machine.detail,
  ]);
  const header = [
    ...(hasSeveral ? ['CLUSTER'] : []),
    'NAME',
    'ROLE',
    'ADDRESS',
    'STATE',
    ...(hasDisk ? ['DISK'] : []),
    'DETAIL',
  ];
  return { data, text: alignColumns([header, ...rows]) };
}
