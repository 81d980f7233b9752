// One pass over the payload: walks the graph with a few workers, tries tasks again with growing pauses, and says what
// came of it. A chain that fails keeps back what is behind it in the chain and the later steps, and nothing else.
import type { Clock } from '../host/clock.ts';
import { aFewAtATime } from '../workflow/a-few-at-a-time.ts';
import type { PayloadTask } from './payload.ts';
import type { TaskFailure } from './task-failure.ts';
import type { Pace, TaskChain, TaskGraph } from './task-graph.ts';

export interface PassProgress {
  readonly done: number;
  readonly total: number;
  /** Of tasks that have used up their tries, and of those that wait for something between two tries. */
  readonly failures: readonly TaskFailure[];
  /** Every task was tried, or waits for one that has failed. */
  readonly isThrough: boolean;
}

export interface PassOptions {
  readonly graph: TaskGraph;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Before the first task of a chain. */
  readonly announce: (task: PayloadTask, signal: AbortSignal) => Promise<void>;
  /** Undefined when the task is done. */
  readonly apply: (task: PayloadTask, signal: AbortSignal) => Promise<TaskFailure | undefined>;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: PassProgress) => void;
}

/** Ends by itself, or by throwing the reason of the signal. A pass that ran out of time has not been through. */
export async function runPass(options: PassOptions): Promise<PassProgress> {
  const { graph, pace, clock } = options;
  const late = new AbortController();
  using _ = clock.after(pace.timeoutMs, () => late.abort(new Error('the pass took too long')));
  const pass = new Pass({ ...options, signal: AbortSignal.any([options.signal, late.signal]) });
  try {
    for (const step of graph) {
      const isDone = await pass.step(step);
      if (!isDone) break;
    }
    pass.end();
  } catch (error) {
    options.signal.throwIfAborted();
    if (!late.signal.aborted) throw error;
  }
  return pass.progress();
}

class Pass {
  readonly #options: PassOptions;
  readonly #total: number;
  readonly #tried = new Set<PayloadTask>();
  readonly #failures = new Map<PayloadTask, TaskFailure>();
  #done = 0;
  #isOver = false;

  constructor(options: PassOptions) {
    this.#options = options;
    this.#total = options.graph.flat(2).length;
  }

  progress(): PassProgress {
    const isThrough = this.#isOver || this.#tried.size === this.#total;
    return { done: this.#done, total: this.#total, failures: [...this.#failures.values()], isThrough };
  }

  /** What was not tried waits for what has failed. */
  end(): void {
    this.#isOver = true;
  }

  /** False when something in it keeps back the next step. */
  async step(chains: readonly TaskChain[]): Promise<boolean> {
    const { pace, announce, signal } = this.#options;
    let isDone = true;
    await aFewAtATime(chains, pace.workers, async (chain) => {
      for (const task of chain) await announce(task, signal);
    });
    await aFewAtATime(chains, pace.workers, async (chain) => {
      for (const task of chain) {
        const isKept = await this.#try(task);
        if (isKept) continue;
        isDone = false;
        return;
      }
    });
    return isDone;
  }

  /** True when what comes after it may begin. */
  async #try(task: PayloadTask): Promise<boolean> {
    const { pace, clock, apply, signal, onProgress } = this.#options;
    let pauseMs = pace.firstPauseMs;
    for (let tries = 1; ; tries += 1) {
      signal.throwIfAborted();
      const failure = await apply(task, signal);
      this.#tried.add(task);
      if (failure === undefined) {
        this.#failures.delete(task);
        this.#done += 1;
        onProgress?.(this.progress());
        return true;
      }
      const isLast = failure.isFinal || tries >= pace.tries;
      if (isLast || failure.effect !== 'fail') this.#failures.set(task, failure);
      onProgress?.(this.progress());
      if (isLast) return !failure.blocks;
      await clock.sleep(Math.min(pauseMs, pace.maxPauseMs), signal);
      pauseMs *= pace.factor;
    }
  }
}
