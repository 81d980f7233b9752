// What the units of the bootstrap machine execute.
import type { CommandBody } from './command.ts';

export const bootkubeRun: CommandBody = async (invocation) => {
  const { runBootstrap } = await import('../bootkube/run-bootstrap.ts');
  await runBootstrap(invocation);
  return { data: { status: 'complete' }, text: 'bootkube.service complete\n' };
};

export const approveCsr: CommandBody = async (invocation) => {
  const { admitMachines } = await import('../bootkube/admit-machines.ts');
  return admitMachines(invocation);
};
