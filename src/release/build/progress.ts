// How long the rest of a build will take: the table's estimates, corrected by how this machine did so far.
import type { Clock } from '../../host/clock.ts';

export interface Task {
  readonly name: string;
  readonly estimateSeconds: number;
  /** Tasks of different lanes run at the same time; `after` starts when all lanes are through. */
  readonly lane: 'compile' | 'system' | 'after';
}

export interface TaskState extends Task {
  readonly status: 'waiting' | 'running' | 'ended';
  /** So far, or in all; nothing for what was kept from before. */
  readonly seconds: number;
}

/** Estimates worth a minute stand until a minute of work has said otherwise. */
const priorSeconds = 60;

/** Seconds until the last task ends. A pure function, so that it can be tested as a table. */
export function remainingSeconds(tasks: readonly TaskState[]): number {
  const ended = tasks.filter((task) => task.status === 'ended' && task.seconds > 0);
  const took = ended.reduce((sum, task) => sum + task.seconds, priorSeconds);
  const expected = ended.reduce((sum, task) => sum + task.estimateSeconds, priorSeconds);
  const pace = took / expected;
  const left = (lane: Task['lane']): number =>
    tasks
      .filter((task) => task.lane === lane && task.status !== 'ended')
      .reduce((sum, task) => sum + Math.max(task.estimateSeconds * pace - task.seconds, 0), 0);
  return Math.max(left('compile'), left('system')) + left('after');
}

export interface BuildProgress {
  started(name: string): void;
  ended(name: string): void;
  /** It was there already. */
  kept(name: string): void;
  /** What to say when a task begins. */
  opening(name: string): string;
  /** ", about 7 min left", for the end of a line. */
  suffix(): string;
}

export function trackProgress(clock: Clock, tasks: readonly Task[]): BuildProgress {
  const startedAt = new Map<string, number>();
  const took = new Map<string, number>();
  const now = (): number => clock.monotonicMs() / 1000;
  const state = (task: Task): TaskState => {
    const ended = took.get(task.name);
    const since = startedAt.get(task.name);
    if (ended !== undefined) return { ...task, status: 'ended', seconds: ended };
    return since === undefined
      ? { ...task, status: 'waiting', seconds: 0 }
      : { ...task, status: 'running', seconds: now() - since };
  };
  return {
    started: (name) => void startedAt.set(name, now()),
    ended: (name) => void took.set(name, now() - (startedAt.get(name) ?? now())),
    kept: (name) => void took.set(name, 0),
    opening: (name) => {
      const seconds = tasks.find((task) => task.name === name)?.estimateSeconds ?? 0;
      return `started, usually ${roughly(seconds)}`;
    },
    suffix: () => `; ${roughly(remainingSeconds(tasks.map(state)))} left in all`,
  };
}

export function roughly(seconds: number): string {
  if (seconds < 10) return 'a few seconds';
  if (seconds < 90) return `about ${Math.round(seconds / 10) * 10} s`;
  return `about ${Math.round(seconds / 60)} min`;
}
