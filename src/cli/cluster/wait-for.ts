// `firstlight wait-for bootstrap-complete | install-complete`
import { waitForBootstrap, waitForInstall, type WaitForOptions } from '../../cluster/wait-for.ts';
import type { CommandBody, Invocation } from '../frame/verb.ts';
import { patienceOf } from './wait-options.ts';

function waitOptions(invocation: Invocation): WaitForOptions {
  const { host, global, emit, signal } = invocation;
  return { host, dir: global.dir, patience: patienceOf(invocation), emit, signal };
}

export const waitForBootstrapComplete: CommandBody = async (invocation) => {
  await waitForBootstrap(waitOptions(invocation));
  return { data: { status: 'complete' }, text: 'It is now safe to remove the bootstrap resources\n' };
};

export const waitForInstallComplete: CommandBody = async (invocation) => {
  await waitForInstall(waitOptions(invocation));
  return { data: { status: 'complete' }, text: 'Install complete!\n' };
};
