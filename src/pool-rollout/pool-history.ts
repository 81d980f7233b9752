// The targets that a pool has had, the newest first. An entry begins when the pool gets the target and is done when all
// nodes have it.
import { type PoolHistoryEntry, poolHistoryLength } from '../contract/machine-config-pool.ts';

export interface HistoryFacts {
  readonly target: string;
  readonly sources: readonly string[];
  /** All nodes have the target. */
  readonly isDone: boolean;
  readonly now: Date;
}

export function nextHistory(
  history: readonly PoolHistoryEntry[],
  { target, sources, isDone, now }: HistoryFacts,
): readonly PoolHistoryEntry[] {
  if (target === '') return history;
  const [newest, ...older] = history;
  const time = now.toISOString();
  const done = { state: 'Done', completedAt: time } as const;
  if (newest?.name === target) {
    return isDone && newest.state === 'Updating' ? [{ ...newest, ...done }, ...older] : history;
  }
  const entry: PoolHistoryEntry = {
    name: target,
    startedAt: time,
    sources: [...sources],
    ...(isDone ? done : { state: 'Updating' }),
  };
  const before = history.map((each) => (each.state === 'Updating' ? { ...each, state: 'Replaced' as const } : each));
  return [entry, ...before].slice(0, poolHistoryLength);
}
