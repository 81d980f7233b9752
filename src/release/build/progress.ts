// How long the rest of a build takes: the estimates of the table, corrected by the speed of this machine so far.
import type { Clock } from '../../host/clock.ts';

export interface BuildTask {
  readonly name: string;
  readonly estimateSeconds: number;
  /** `compile` and `system` run at the same time; `after` starts when both have ended. */
  readonly lane: 'compile' | 'system' | 'after';
}

export interface BuildTaskState extends BuildTask {
  readonly status: 'waiting' | 'running' | 'ended';
  /** So far, or in total; 0 if the entry was in the cache. */
  readonly seconds: number;
}

/** Weight of the estimates: one minute at the estimated speed is added to what was measured. */
const priorSeconds = 60;

/** Seconds until the last task ends. */
export function remainingSeconds(tasks: readonly BuildTaskState[]): number {
  const ended = tasks.filter((task) => task.status === 'ended' && task.seconds > 0);
  const took = ended.reduce((sum, task) => sum + task.seconds, priorSeconds);
  const expected = ended.reduce((sum, task) => sum + task.estimateSeconds, priorSeconds);
  const pace = took / expected;
  const left = (lane: BuildTask['lane']): number =>
    tasks
      .filter((task) => task.lane === lane && task.status !== 'ended')
      .reduce((sum, task) => sum + Math.max(task.estimateSeconds * pace - task.seconds, 0), 0);
  return Math.max(left('compile'), left('system')) + left('after');
}

export interface BuildProgress {
  started(name: string): void;
  ended(name: string): void;
  /** It was in the cache. */
  kept(name: string): void;
  /** The message at the start of a task. */
  opening(name: string): string;
  /** ", about 7 min left", for the end of a line. */
  suffix(): string;
}

export function trackProgress(clock: Clock, tasks: readonly BuildTask[]): BuildProgress {
  const startedAt = new Map<string, number>();
  const took = new Map<string, number>();
  const now = (): number => clock.monotonicMs() / 1000;
  const state = (task: BuildTask): BuildTaskState => {
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
      return `started, usually ${roughDuration(seconds)}`;
    },
    suffix: () => `; ${roughDuration(remainingSeconds(tasks.map(state)))} left in all`,
  };
}

export function roughDuration(seconds: number): string {
  if (seconds < 10) return 'a few seconds';
  if (seconds < 90) return `about ${Math.round(seconds / 10) * 10} s`;
  return `about ${Math.round(seconds / 60)} min`;
}
