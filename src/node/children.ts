// Work that goes on beside the duties: watches and elections. Each is started once and kept; one that ends is started
// again by the next look of whoever wants it. All of them end with the agent.
import { FirstlightError } from '../errors/firstlight-error.ts';

export type Child = (signal: AbortSignal) => Promise<void>;

export class Children {
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, string>();
  readonly #signal: AbortSignal;
  readonly #onEnd: () => void;

  /** `onEnd` is called when one ended by itself. */
  constructor(signal: AbortSignal, onEnd: () => void) {
    this.#signal = signal;
    this.#onEnd = onEnd;
  }

  /** Starts it unless it runs; says why the last one ended, if one did. */
  keep(name: string, child: Child): { readonly lastFailure: string | undefined } {
    const lastFailure = this.#failures.get(name);
    if (!this.#running.has(name) && !this.#signal.aborted) this.#running.set(name, this.#run(name, child));
    return { lastFailure };
  }

  async #run(name: string, child: Child): Promise<void> {
    try {
      await child(this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      const why = error instanceof FirstlightError ? `${error.message} (${error.code})` : String(error);
      this.#failures.set(name, why);
    } finally {
      this.#running.delete(name);
      if (!this.#signal.aborted) this.#onEnd();
    }
  }

  /** Resolves when all have ended; the signal must have been given. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
