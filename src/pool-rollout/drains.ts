// The drains that are under way, one task per node. A drain takes as long as its pods and budgets take, and nothing
// else waits for it. A task ends when its request is answered or changes, and with the leadership of this controller.
import { FirstlightError } from '../errors/firstlight-error.ts';
import { type DrainOptions, drainNode } from './drain-node.ts';

export interface DrainTask
  extends Pick<DrainOptions, 'node' | 'answer' | 'since' | 'isOnlyNode' | 'isSilent' | 'missing'> {
  /** What asks for it: with another request it is another drain. */
  readonly request: string;
}

export interface DrainsOptions extends Pick<DrainOptions, 'client' | 'host' | 'signal' | 'mayAct' | 'onTrouble'> {
  readonly onDrained?: (task: DrainTask) => void;
}

/** A drain that failed begins again after this long. */
const againMs = 1_000;

export class Drains implements AsyncDisposable {
  readonly #options: DrainsOptions;
  readonly #running = new Map<string, { readonly request: string; readonly end: AbortController }>();
  readonly #tasks = new Set<Promise<void>>();
  /** A mistake in this program; the next `keep` throws it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** Starts what is asked for, and ends what is not asked for any more. */
  keep(asked: readonly DrainTask[]): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    for (const [node, { request, end }] of this.#running) {
      if (asked.some((each) => each.node === node && each.request === request)) continue;
      end.abort(new Error(`${node} does not ask for ${request} any more`));
      this.#running.delete(node);
    }
    for (const task of asked) {
      if (this.#running.has(task.node)) continue;
      const end = new AbortController();
      this.#running.set(task.node, { request: task.request, end });
      const signal = AbortSignal.any([this.#options.signal, end.signal]);
      const draining = this.#drain(task, signal).catch((error: unknown) => {
        this.#failure = { error };
      });
      this.#tasks.add(draining);
      void draining.then(() => this.#tasks.delete(draining));
    }
  }

  async #drain(task: DrainTask, signal: AbortSignal): Promise<void> {
    const { onDrained, ...options } = this.#options;
    while (!signal.aborted) {
      try {
        await drainNode({ ...options, ...task, signal });
        return onDrained?.(task);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof FirstlightError)) throw error;
        options.onTrouble(error);
        await options.host.clock.sleep(againMs, signal).catch(() => undefined);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { end } of this.#running.values()) end.abort(new Error('this controller does not lead any more'));
    await Promise.allSettled(this.#tasks);
  }
}
