// What `machine-config apply` and `rollback` do with a plan: show it, ask, carry it out, wait.
import type { PlannedPool } from '../../cluster/pools/roll-out-plan.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { waitOptions } from '../cluster/wait-options.ts';
import { cliErrors } from '../frame/errors.ts';
import type { ValuesOf } from '../frame/option.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';
import { followRollOut } from './follow-roll-out.ts';
import type { rollOutOptions } from './options.ts';
import { rolledOutText } from './pool-text.ts';

export interface RollOutToBegin {
  readonly client: KubernetesClient;
  /** What will happen, in words and as data. */
  readonly text: string;
  readonly data: object;
  readonly question: string;
  readonly command: string;
  readonly pools: readonly PlannedPool[];
  readonly carryOut: () => Promise<void>;
}

type RollOutInvocation = Invocation<unknown, ValuesOf<typeof rollOutOptions & typeof waitOptions>>;

export async function beginRollOut(invocation: RollOutInvocation, begin: RollOutToBegin): Promise<CommandResult> {
  const { terminal, options, host } = invocation;
  const { client, text, data, pools } = begin;
  if (options.dryRun) return { data: { ...data, isApplied: false }, text };
  terminal.err(text);
  if (!options.yes && !(await isConfirmed(invocation, begin))) {
    return { data: { ...data, isApplied: false }, text: 'nothing was changed\n', exit: exitCodes.other };
  }
  const startMs = host.clock.monotonicMs();
  await begin.carryOut();
  if (pools.length === 0) return { data: { ...data, isApplied: true }, text: 'applied; no machine changes by it\n' };
  if (!options.wait) {
    const next = 'firstlight machine-config status --watch follows the roll-out';
    return { data: { ...data, isApplied: true }, text: `applied; ${next}\n` };
  }
  const seen = await followRollOut(invocation, {
    client,
    title: `machine configuration of ${pools.map(({ pool }) => pool).join(', ')}`,
    pools: new Map(pools.map(({ pool, from, to }) => [pool, { before: from, expected: to }])),
    command: 'machine-config status --watch',
  });
  const elapsedMs = host.clock.monotonicMs() - startMs;
  return {
    data: { ...data, isApplied: true, seconds: elapsedMs / 1000, rolledOut: seen },
    text: rolledOutText(seen, elapsedMs),
  };
}

async function isConfirmed(
  { terminal, signal }: Pick<Invocation, 'terminal' | 'signal'>,
  { question, command }: Pick<RollOutToBegin, 'question' | 'command'>,
): Promise<boolean> {
  if (!terminal.inIsTerminal) {
    throw cliErrors.USAGE({ reason: 'nobody can be asked here: --yes does it without a question', command });
  }
  const answer = await terminal.ask(`\n${question} [y/N]: `, signal);
  return /^y(es)?$/i.test((answer ?? '').trim());
}
