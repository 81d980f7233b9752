// Wakes those that wait for a hint that something may have changed. A ring is a hint to look again, never a fact. A
// ring while nobody waits is not lost: the next wait returns at once.
export class Doorbell {
  readonly #waiting = new Set<() => void>();
  #rings = 0;

  ring(): void {
    this.#rings += 1;
    for (const wake of this.#waiting) wake();
  }

  /** How often it has rung; given to `rung`, no ring in between is missed. */
  get rings(): number {
    return this.#rings;
  }

  /** Resolves at the next ring after the count `since`; also when the signal ends the wait. */
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
