// `firstlight machine start|stop|reboot|destroy`
import {
  destroyCluster,
  destroyMachines,
  listMachines,
  rebootMachines,
  startMachines,
  stopMachines,
} from '../../platform/local/local-platform.ts';
import { z } from 'zod';
import type { CommandBody, CommandResult, Invocation } from '../frame/verb.ts';
import { chosenCluster, chosenMachines, chosenPatienceMs } from './machine-choice.ts';
import { machineTable } from './machine-table.ts';
import { waitAndTell } from './machine-wait.ts';

export const machineStart: CommandBody = async (invocation) => {
  const cluster = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, cluster);
  await startMachines(invocation, cluster, names);
  return afterBoot(invocation, cluster, names);
};

export const machineReboot: CommandBody = async (invocation) => {
  const cluster = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, cluster);
  await rebootMachines(invocation, cluster, names);
  return afterBoot(invocation, cluster, names);
};

export const machineStop: CommandBody = async (invocation) => {
  const cluster = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, cluster);
  await stopMachines(invocation, cluster, names);
  return table(invocation, cluster, names);
};

export const machineDestroy: CommandBody = async (invocation) => {
  const cluster = await chosenCluster(invocation);
  const { all } = z.looseObject({ all: z.boolean().default(false) }).parse(invocation.options);
  const names = await chosenMachines(invocation, cluster);
  if (all) await destroyCluster(invocation, cluster);
  else await destroyMachines(invocation, cluster, names);
  return { data: { cluster, destroyed: names }, text: `destroyed ${names.join(', ') || `cluster ${cluster}`}\n` };
};

async function afterBoot(invocation: Invocation, cluster: string, names: readonly string[]): Promise<CommandResult> {
  const deadlineMs = chosenPatienceMs(invocation);
  if (deadlineMs !== undefined) await waitAndTell(invocation, { cluster, names, deadlineMs });
  return table(invocation, cluster, names);
}

async function table({ host }: Invocation, cluster: string, names: readonly string[]): Promise<CommandResult> {
  const machines = (await listMachines(host, cluster)).filter((machine) => names.includes(machine.name));
  return machineTable(machines.map((machine) => ({ ...machine, cluster })));
}
