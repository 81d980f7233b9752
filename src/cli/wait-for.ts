// `firstlight wait-for bootstrap-complete | install-complete`
import { z } from 'zod';
import { waitForBootstrap, waitForInstall, type WaitForOptions } from '../cluster/wait-for.ts';
import type { CommandBody, Invocation } from './command.ts';

const optionsSchema = z.looseObject({ timeout: z.coerce.number().positive().optional() });
const stallMs = 10 * 60_000;

function waitOptions({ host, global, emit, signal, options }: Invocation): WaitForOptions {
  const { timeout } = optionsSchema.parse(options);
  const endMs = timeout === undefined ? {} : { endMs: host.clock.monotonicMs() + timeout * 1000 };
  return { host, dir: global.dir, patience: { stallMs, ...endMs }, emit, signal };
}

export const waitForBootstrapComplete: CommandBody = async (invocation) => {
  await waitForBootstrap(waitOptions(invocation));
  return { data: { status: 'complete' }, text: 'It is now safe to remove the bootstrap resources\n' };
};

export const waitForInstallComplete: CommandBody = async (invocation) => {
  await waitForInstall(waitOptions(invocation));
  return { data: { status: 'complete' }, text: 'Install complete!\n' };
};
