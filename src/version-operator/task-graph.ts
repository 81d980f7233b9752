// In which order the tasks of a payload are done. A graph is a list of steps; a step is a list of chains that run
// beside each other; a chain is done task by task. A step begins when the one before is done, so everything that must
// wait for something else is either behind it in its chain or in a later step.
import { digestOf } from '../workflow/digest.ts';
import type { PayloadTask } from './payload.ts';

/** The cluster gets its first release, gets another, or is kept as it is. */
export type OperatorState = 'Initializing' | 'Updating' | 'Reconciling';

export type TaskChain = readonly PayloadTask[];
export type TaskGraph = readonly (readonly TaskChain[])[];

/** How a pass goes about it. */
export interface Pace {
  readonly workers: number;
  /** Tries of a task in one pass, and the pauses between. */
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly factor: number;
  readonly maxPauseMs: number;
  /** A pass that takes longer is given up; the next one goes on where it stopped. */
  readonly timeoutMs: number;
}

export const paces: Readonly<Record<OperatorState, Pace>> = {
  Initializing: { workers: 16, tries: 4, firstPauseMs: 1_000, factor: 2, maxPauseMs: 15_000, timeoutMs: 120_000 },
  Updating: { workers: 4, tries: 3, firstPauseMs: 10_000, factor: 1.3, maxPauseMs: 15_000, timeoutMs: 240_000 },
  // A task that fails is tried again by the next pass: pauses here would keep the others from being put right.
  Reconciling: { workers: 2, tries: 1, firstPauseMs: 0, factor: 1, maxPauseMs: 0, timeoutMs: 240_000 },
};

export interface GraphOptions {
  readonly state: OperatorState;
  /** The number of the pass; decides the order while reconciling. */
  readonly attempt: number;
}

/** `tasks` in the order of the payload. */
export function taskGraph(tasks: readonly PayloadTask[], { state, attempt }: GraphOptions): TaskGraph {
  const pieces = splitAround(tasks, isJob);
  switch (state) {
    case 'Initializing':
      return pieces.map((piece) => groups(piece, ({ component }) => component));
    case 'Updating':
      return pieces.flatMap((piece) =>
        groups(piece, ({ level }) => String(level)).map((level) => groups(level, ({ component }) => component)),
      );
    case 'Reconciling':
      return pieces.map((piece) => inTurns(piece, attempt).map((task) => [task]));
  }
}

/** What comes before a Job is done before the Job, and what comes after it, after. */
function splitAround(
  tasks: readonly PayloadTask[],
  isAlone: (task: PayloadTask) => boolean,
): readonly (readonly PayloadTask[])[] {
  const pieces: PayloadTask[][] = [];
  let isNew = true;
  for (const task of tasks) {
    if (isNew || isAlone(task)) pieces.push([]);
    pieces.at(-1)?.push(task);
    isNew = isAlone(task);
  }
  return pieces;
}

function isJob(task: PayloadTask): boolean {
  return 'object' in task && task.object.kind === 'Job' && task.object.apiVersion === 'batch/v1';
}

function groups(tasks: readonly PayloadTask[], keyOf: (task: PayloadTask) => string): readonly TaskChain[] {
  const chains = new Map<string, PayloadTask[]>();
  for (const task of tasks) {
    const key = keyOf(task);
    const chain = chains.get(key);
    if (chain === undefined) chains.set(key, [task]);
    else chain.push(task);
  }
  return [...chains.values()];
}

const turns = 8;

/**
 * Eight passes share one shuffled order, and each begins an eighth further on: a pass that is always cut short at the
 * same time still comes to every task. The order is that of digests, so the same attempt has the same order everywhere.
 */
function inTurns(tasks: readonly PayloadTask[], attempt: number): readonly PayloadTask[] {
  const seed = Math.floor(attempt / turns);
  const keyed = tasks.map((task, at) => ({ task, key: digestOf(`${seed} ${task.source} ${at}`) }));
  const shuffled = keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ task }) => task);
  const start = Math.floor((shuffled.length * (attempt % turns)) / turns);
  return [...shuffled.slice(start), ...shuffled.slice(0, start)];
}
