// Work that goes on beside the duties: watches and elections. Each is started once and kept; one that ends is started
// again by the next look of whoever wants it. All of them end with the agent.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';

/** `say` leaves a short word on how it stands. */
export type BackgroundTask = (signal: AbortSignal, say: (note: string) => void) => Promise<void>;

export interface TaskState {
  readonly note: string | undefined;
  /** Why it last ended, if it did. */
  readonly lastFailure: string | undefined;
}

/** One that fails at once must not be started in a tight loop. */
const restartMs = 1_000;

export class BackgroundTasks {
  readonly #running = new Map<string, Promise<void>>();
  readonly #endedMs = new Map<string, number>();
  readonly #states = new Map<string, TaskState>();
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;

  /** `onChange` is called when one says something new or has ended. */
  constructor(clock: Clock, signal: AbortSignal, onChange: () => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onChange = onChange;
  }

  /** Starts it unless it runs or has just ended. */
  keep(name: string, task: BackgroundTask): TaskState {
    const quietMs = this.#clock.monotonicMs() - (this.#endedMs.get(name) ?? Number.NEGATIVE_INFINITY);
    const mayStart = !this.#running.has(name) && !this.#signal.aborted && quietMs >= restartMs;
    if (mayStart) this.#running.set(name, this.#run(name, task));
    return this.#states.get(name) ?? { note: undefined, lastFailure: undefined };
  }

  async #run(name: string, task: BackgroundTask): Promise<void> {
    const say = (note: string): void => {
      if (this.#states.get(name)?.note === note) return;
      this.#states.set(name, { note, lastFailure: undefined });
      this.#onChange();
    };
    let lastFailure: string | undefined;
    try {
      await task(this.#signal, say);
    } catch (error) {
      lastFailure = error instanceof FirstlightError ? `${error.message} (${error.code})` : String(error);
    } finally {
      this.#running.delete(name);
      this.#states.set(name, { note: undefined, lastFailure });
      this.#endedMs.set(name, this.#clock.monotonicMs());
      this.#onChange();
    }
  }

  /** Resolves when all have ended; the signal must have been given. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
