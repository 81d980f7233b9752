// Limits the TLS handshakes at one time. A handshake costs about sixty kilobytes and a millisecond of CPU time, so when
// a thousand clients connect at once, some start and the others wait at almost no cost: all are served sooner than if
// all started together. A slot is held only for a short time, so a client that stops in its handshake delays others by
// that time and no more.

export interface HandshakeQueueOptions {
  readonly slots: number;
  /** A slot is free again after this time, even if its handshake has not ended. */
  readonly slotMs: number;
}

/** A timer that is later than this means that this process is slow, not the client, which then gets more time. */
const timerLateMs = 50;
const extensionsMax = 8;

export class HandshakeQueue<C extends object> {
  readonly #options: HandshakeQueueOptions;
  readonly #waiting = new Map<C, () => void>();
  readonly #holding = new Map<C, NodeJS.Timeout>();

  constructor(options: HandshakeQueueOptions) {
    this.#options = options;
  }

  /** More than half of the slots are free: then even a client that has sent nothing may start. */
  get isHalfFree(): boolean {
    return this.#holding.size < this.#options.slots / 2;
  }

  /** Calls `begin` when a slot is free, in the order of the calls. */
  add(connection: C, begin: () => void): void {
    this.#waiting.set(connection, begin);
    this.#startNext();
  }

  /** The client now waits for our answer: its slot stays taken until `remove`, however long the answer takes. */
  keepSlot(connection: C): void {
    clearTimeout(this.#holding.get(connection));
  }

  /** The connection is answered or closed: the next may start. */
  remove(connection: C): void {
    this.#waiting.delete(connection);
    const timer = this.#holding.get(connection);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#holding.delete(connection);
    this.#startNext();
  }

  #startNext(): void {
    for (const [connection, begin] of this.#waiting) {
      if (this.#holding.size >= this.#options.slots) return;
      this.#waiting.delete(connection);
      this.#hold(connection, extensionsMax);
      begin();
    }
  }

  #hold(connection: C, left: number): void {
    const { slotMs } = this.#options;
    const dueMs = performance.now() + slotMs;
    const expire = (): void => {
      if (left > 0 && performance.now() - dueMs > timerLateMs) this.#hold(connection, left - 1);
      else this.remove(connection);
    };
    this.#holding.set(connection, setTimeout(expire, slotMs));
  }
}
