// `firstlight machine start|stop|reboot|destroy`
import { z } from 'zod';
import { ableTo } from '../../platform/platform.ts';
import type { CommandBody, CommandResult, Invocation } from '../frame/verb.ts';
import { chosenCluster, type ChosenCluster, chosenMachines, chosenPatienceMs } from './machine-choice.ts';
import { listedMachines } from './machine-table.ts';
import { waitAndTell } from './machine-wait.ts';

export const machineStart: CommandBody = async (invocation) => {
  const chosen = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, chosen);
  await ableTo(chosen.platform, 'startMachines')(invocation, chosen.cluster, names);
  return afterBoot(invocation, chosen, names);
};

export const machineReboot: CommandBody = async (invocation) => {
  const chosen = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, chosen);
  await ableTo(chosen.platform, 'rebootMachines')(invocation, chosen.cluster, names);
  return afterBoot(invocation, chosen, names);
};

export const machineStop: CommandBody = async (invocation) => {
  const chosen = await chosenCluster(invocation);
  const names = await chosenMachines(invocation, chosen);
  await ableTo(chosen.platform, 'stopMachines')(invocation, chosen.cluster, names);
  return listedMachines(chosen, names);
};

export const machineDestroy: CommandBody = async (invocation) => {
  const chosen = await chosenCluster(invocation);
  const { platform, cluster } = chosen;
  const { all } = z.looseObject({ all: z.boolean().default(false) }).parse(invocation.options);
  const names = await chosenMachines(invocation, chosen);
  if (all) await ableTo(platform, 'destroyCluster')(invocation, cluster);
  else await ableTo(platform, 'destroyMachines')(invocation, cluster, names);
  return { data: { cluster, destroyed: names }, text: `destroyed ${names.join(', ') || `cluster ${cluster}`}\n` };
};

async function afterBoot(
  invocation: Invocation,
  chosen: ChosenCluster,
  names: readonly string[],
): Promise<CommandResult> {
  const deadlineMs = chosenPatienceMs(invocation);
  if (deadlineMs !== undefined) await waitAndTell(invocation, { ...chosen, names, deadlineMs });
  return listedMachines(chosen, names);
}
