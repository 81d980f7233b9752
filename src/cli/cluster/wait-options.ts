// --timeout and --stall-after, as every command understands them that waits for machines.
import { z } from 'zod';
import type { WaitLimits } from '../../cluster/wait-for-progress.ts';
import type { Invocation } from '../frame/verb.ts';

const optionsSchema = z.looseObject({
  timeout: z.coerce.number().positive().optional(),
  stallAfter: z.coerce.number().positive(),
});

export function patienceOf({ host, options }: Pick<Invocation, 'host' | 'options'>): WaitLimits {
  const { timeout, stallAfter } = optionsSchema.parse(options);
  const endMs = timeout === undefined ? {} : { endMs: host.clock.monotonicMs() + timeout * 1000 };
  return { stallMs: stallAfter * 1000, ...endMs };
}
