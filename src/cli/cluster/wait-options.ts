// --timeout and --stall-after: how long a verb waits for machines.
import type { WaitLimits } from '../../cluster/wait-for-progress.ts';
import { option, optionWithDefault, positiveNumber, type ValuesOf } from '../frame/option.ts';
import type { Invocation } from '../frame/verb.ts';

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
