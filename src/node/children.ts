// Work that goes on beside the duties: watches and elections. Each is started once and kept; one that ends is started
// again by the next look of whoever wants it. All of them end with the agent.
import { FirstlightError } from '../errors/firstlight-error.ts';

/** `say` leaves a short word on how it stands. */
export type Child = (signal: AbortSignal, say: (note: string) => void) => Promise<void>;

export interface ChildState {
  readonly note: string | undefined;
  /** Why it last ended, if it did. */
  readonly lastFailure: string | undefined;
}

export class Children {
  readonly #running = new Map<string, Promise<void>>();
  readonly #states = new Map<string, ChildState>();
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;

  constructor(signal: AbortSignal, onChange: () => void) {
    this.#signal = signal;
    this.#onChange = onChange;
  }

  /** Starts it unless it runs. */
  keep(name: string, child: Child): ChildState {
    if (!this.#running.has(name) && !this.#signal.aborted) this.#running.set(name, this.#run(name, child));
    return this.#states.get(name) ?? { note: undefined, lastFailure: undefined };
  }

  async #run(name: string, child: Child): Promise<void> {
    const say = (note: string): void => {
      if (this.#states.get(name)?.note === note) return;
      this.#states.set(name, { note, lastFailure: undefined });
      this.#onChange();
    };
    let lastFailure: string | undefined;
    try {
      await child(this.#signal, say);
    } catch (error) {
      lastFailure = error instanceof FirstlightError ? `${error.message} (${error.code})` : String(error);
    } finally {
      this.#running.delete(name);
      this.#states.set(name, { note: undefined, lastFailure });
    }
  }

  /** Resolves when all have ended; the signal must have been given. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
