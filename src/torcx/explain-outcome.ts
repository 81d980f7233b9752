// The outcome of a run as text: the facts and their sources, the conclusions, and what is planned or done.
import { describeAction } from './actions.ts';
import type { Fact } from './decision-log.ts';
import type { TorcxOutcome } from './run-torcx.ts';

export function explainOutcome(outcome: TorcxOutcome): string {
  const { log, actions, status, blockedBy } = outcome;
  const doing = status === 'dry-run' ? 'a run would' : 'done';
  return [
    section('known', factLines(log.facts)),
    section('so', log.conclusions),
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

/** The outcome as data, with the full text of kubelet.env, so that it can be compared. */
export function outcomeData({ status, log, actions, blockedBy }: TorcxOutcome): Record<string, unknown> {
  const stop = blockedBy === undefined ? {} : { error: { code: blockedBy.code, message: blockedBy.message } };
  return { status, known: log.facts, conclusions: log.conclusions, actions, ...stop };
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
