// Work that goes on beside the duties: watches and elections. Each task is started once and kept; a task that ended is
// started again the next time its duty runs. All of them end with the agent.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';

/** `setNote` records the current state of the task in a few words. */
export type BackgroundTask = (signal: AbortSignal, setNote: (note: string) => void) => Promise<void>;

export interface BackgroundState {
  readonly note: string | undefined;
  /** The error that ended the task last; undefined when there was none, or when the task has set a note since. */
  readonly lastFailure: string | undefined;
}

/** A task that fails at once must not be started in a tight loop. */
const restartMs = 1_000;

export class BackgroundTasks {
  readonly #running = new Map<string, Promise<void>>();
  readonly #endedMs = new Map<string, number>();
  readonly #states = new Map<string, BackgroundState>();
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;

  /** `onChange` is called when a task has a new note or has ended. */
  constructor(clock: Clock, signal: AbortSignal, onChange: () => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onChange = onChange;
  }

  /** Starts the task unless it runs or has just ended. */
  keep(name: string, task: BackgroundTask): BackgroundState {
    const quietMs = this.#clock.monotonicMs() - (this.#endedMs.get(name) ?? Number.NEGATIVE_INFINITY);
    const mayStart = !this.#running.has(name) && !this.#signal.aborted && quietMs >= restartMs;
    if (mayStart) this.#running.set(name, this.#run(name, task));
    return this.#states.get(name) ?? { note: undefined, lastFailure: undefined };
  }

  async #run(name: string, task: BackgroundTask): Promise<void> {
    const setNote = (note: string): void => {
      if (this.#states.get(name)?.note === note) return;
      this.#states.set(name, { note, lastFailure: undefined });
      this.#onChange();
    };
    let lastFailure: string | undefined;
    try {
      await task(this.#signal, setNote);
    } catch (error) {
      lastFailure = error instanceof FirstlightError ? `${error.message} (${error.code})` : String(error);
    } finally {
      this.#running.delete(name);
      this.#states.set(name, { note: undefined, lastFailure });
      this.#endedMs.set(name, this.#clock.monotonicMs());
      this.#onChange();
    }
  }

  /** Resolves when all tasks have ended; the signal must be aborted before. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
