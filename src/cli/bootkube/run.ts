// What the units of the bootstrap machine execute.
import type { CommandBody } from '../frame/verb.ts';

export const bootkubeRun: CommandBody = async (invocation) => {
  const { runBootstrap } = await import('../../bootkube/run-bootstrap.ts');
  await runBootstrap(invocation);
  return { data: { status: 'complete' }, text: 'bootkube.service complete\n' };
};

export const approveCsr: CommandBody = async (invocation) => {
  const { admitMachines } = await import('../../bootkube/admit-machines.ts');
  return admitMachines(invocation);
};

export const tectonic: CommandBody = async (invocation) => {
  const { deployAddons } = await import('../../bootkube/tectonic.ts');
  await deployAddons(invocation);
  return { data: { status: 'complete' }, text: 'tectonic.service complete\n' };
};

export const rmAssets: CommandBody = async (invocation) => {
  const { removeAssets } = await import('../../bootkube/rm-assets.ts');
  await removeAssets(invocation);
  return { data: { status: 'complete' }, text: 'rm-assets.service complete\n' };
};

export const progress: CommandBody = async (invocation) => {
  const { mirrorProgress } = await import('../../bootkube/mirror-progress.ts');
  await mirrorProgress(invocation);
  return { data: { status: 'complete' }, text: '' };
};
