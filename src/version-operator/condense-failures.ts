// Many failures as one reason and one message, as people read them in a condition: what has the same cause is said
// once.
import type { FailureReason, TaskFailure } from './task-failure.ts';

export interface Condensed {
  readonly reason: FailureReason | 'MultipleErrors';
  readonly message: string;
}

/** What several operators of one reason are. */
const shared: Partial<Readonly<Record<FailureReason, string>>> = {
  ClusterOperatorNotAvailable: 'not available',
  ClusterOperatorDegraded: 'degraded',
  ClusterOperatorUpdating: 'updating their versions',
};

/** Undefined where there is none. */
export function condensed(failures: readonly TaskFailure[]): Condensed | undefined {
  const byReason = new Map<FailureReason, TaskFailure[]>();
  for (const failure of failures) byReason.set(failure.reason, [...(byReason.get(failure.reason) ?? []), failure]);
  const parts = [...byReason].flatMap(([reason, same]) => wordsOf(reason, same));
  const [first, ...others] = parts;
  if (first === undefined || others.length === 0) return first;
  const isOne = byReason.size === 1;
  const lines = parts.map(({ message }) => `* ${message}`).sort();
  const message = `Multiple errors are preventing progress:\n${lines.join('\n')}`;
  return { reason: isOne ? first.reason : 'MultipleErrors', message };
}

function wordsOf(reason: FailureReason, same: readonly TaskFailure[]): readonly Condensed[] {
  const names = same.flatMap(({ operator }) => operator ?? []).sort();
  const verb = shared[reason];
  if (verb !== undefined && names.length > 1) {
    return [{ reason, message: `Cluster operators ${names.join(', ')} are ${verb}` }];
  }
  return same.map((failure) => ({ reason, message: sentenceOf(failure) }));
}

function sentenceOf({ operator, object, source, message }: TaskFailure): string {
  if (operator !== undefined) return message;
  // A manifest that cannot be read has no object, and its message has the place.
  return object === source ? `Could not read ${message}` : `Could not update ${object} (${source}): ${message}`;
}
