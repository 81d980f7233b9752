// Ends waits early when something may have changed. A ring is only a hint to look again, never a fact. A ring between
// two waits is not lost: the next wait returns at once.
export class Doorbell {
  readonly #waiting = new Set<() => void>();
  #rings = 0;

  ring(): void {
    this.#rings += 1;
    for (const wake of this.#waiting) wake();
  }

  /** The number of rings so far. Read it before you look and pass it to `rung`: then no ring in between is lost. */
  get rings(): number {
    return this.#rings;
  }

  /** Resolves when there is a ring after the count `since`, or when the signal is aborted. */
  rung(since: number, signal: AbortSignal): Promise<void> {
    if (this.#rings !== since || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
