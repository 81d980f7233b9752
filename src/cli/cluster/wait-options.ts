// --timeout and --stall-after: how long a verb waits for machines; and how it says how long it waited.
import type { WaitLimits } from '../../cluster/wait-for-progress.ts';
import { option, optionWithDefault, positiveNumber, type ValuesOf } from '../frame/option.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

export const waitOptions = {
  timeout: option(
    '--timeout <seconds>',
    'give up after this long (default: go on while something moves)',
    positiveNumber,
  ),
  stallAfter: optionWithDefault(
    '--stall-after <seconds>',
    'how long nothing may move before the likely reason is looked for and the command ends',
    positiveNumber,
    // The kubelet waits up to five minutes before it starts a failed container again: a shorter wait may miss that.
    360,
  ),
};

export function waitLimits({ host, options }: Invocation<unknown, ValuesOf<typeof waitOptions>>): WaitLimits {
  const { timeout, stallAfter } = options;
  const endMs = timeout === undefined ? {} : { endMs: host.clock.monotonicMs() + timeout * 1000 };
  return { stallMs: stallAfter * 1000, ...endMs };
}

/** `15m30s`, as Go prints a duration of whole seconds. */
export function elapsedText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : '', `${seconds % 60}s`];
  return parts.join('');
}

/** The result of a wait that ended well: the milestone, and how long this command waited for it. */
export async function waitedFor(
  { host }: Pick<Invocation, 'host'>,
  milestone: string,
  wait: () => Promise<void>,
): Promise<CommandResult> {
  const beganMs = host.clock.monotonicMs();
  await wait();
  const elapsedMs = host.clock.monotonicMs() - beganMs;
  const elapsed = elapsedText(elapsedMs);
  return {
    data: { status: 'complete', elapsedSeconds: Math.round(elapsedMs / 1000) },
    text: `${milestone}\nTime elapsed: ${elapsed}\n`,
  };
}
