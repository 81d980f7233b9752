// The decision in words: what was known and from where, what follows from it, what would be or was done.
import { describeAction } from './actions.ts';
import type { Fact } from './ledger.ts';
import type { TorcxOutcome } from './run-torcx.ts';

export function explainOutcome(outcome: TorcxOutcome): string {
  const { ledger, actions, status, blockedBy } = outcome;
  const doing = status === 'dry-run' ? 'a run would' : 'done';
  return [
    section('known', factLines(ledger.facts)),
    section('so', ledger.conclusions),
    ...(blockedBy === undefined
      ? [
          section(
            doing,
            actions.length === 0
              ? ['change nothing']
              : actions.map((action, at) => `${at + 1}. ${describeAction(action)}`),
          ),
        ]
      : [section('it stops here', [`${blockedBy.message}   (${blockedBy.code})`, blockedBy.hint])]),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** The same as data; kubelet.env is given in full, because it is what a reader wants to compare. */
export function outcomeData({ status, ledger, actions, blockedBy }: TorcxOutcome): Record<string, unknown> {
  const stop = blockedBy === undefined ? {} : { error: { code: blockedBy.code, message: blockedBy.message } };
  return { status, known: ledger.facts, conclusions: ledger.conclusions, actions, ...stop };
}

function factLines(facts: readonly Fact[]): readonly string[] {
  const topics = Math.max(0, ...facts.map((fact) => fact.topic.length));
  const values = Math.max(0, ...facts.map((fact) => fact.value.length));
  return facts.flatMap(({ topic, value, from, notes }) => [
    `${topic.padEnd(topics)}  ${value.padEnd(values)}  ${from}`,
    ...notes.map((note) => `${' '.repeat(topics)}  (${note})`),
  ]);
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
