// Machines as a person and as a program see them.
import type { ObservedMachine } from '../../platform/machine.ts';
import type { CommandResult } from '../frame/verb.ts';
import type { ChosenCluster } from './machine-choice.ts';

export interface ListedMachine extends ObservedMachine {
  readonly cluster: string;
}

export async function listMachinesOf({ platform, cluster }: ChosenCluster): Promise<readonly ListedMachine[]> {
  return (await platform.observeMachines(cluster)).map((machine) => ({ ...machine, cluster }));
}

/** These machines of a cluster, as a table. */
export async function listedMachines(chosen: ChosenCluster, names: readonly string[]): Promise<CommandResult> {
  return machineTable((await listMachinesOf(chosen)).filter((machine) => names.includes(machine.name)));
}

export function machineTable(machines: readonly ListedMachine[]): CommandResult {
  const data = machines.map(({ leaderPid = null, ...machine }) => ({ ...machine, leaderPid }));
  if (machines.length === 0) return { data, text: 'no machines\n' };
  const hasSeveral = new Set(machines.map((machine) => machine.cluster)).size > 1;
  const rows = machines.map((machine) => [
    ...(hasSeveral ? [machine.cluster] : []),
    machine.name,
    machine.role,
    machine.address,
    machine.state,
    machine.detail,
  ]);
  const header = [...(hasSeveral ? ['CLUSTER'] : []), 'NAME', 'ROLE', 'ADDRESS', 'STATE', 'DETAIL'];
  return { data, text: alignColumns([header, ...rows]) };
}

export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}
