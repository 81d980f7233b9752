// Limits the TLS handshakes at one time. A handshake costs about sixty kilobytes and a millisecond of CPU time, so when
// a thousand clients connect at once, some start and the others wait at almost no cost: all are served sooner than if
// all started together. Clients take turns: each may hold two slots, and more only while half of the slots are free. A
// slot is held only for a short time, so clients that stop in their handshake delay another by a few slots and no more.

export interface HandshakeQueueOptions {
  readonly slots: number;
  /** A slot is free again after this time, even if its handshake has not ended. */
  readonly slotMs: number;
}

/** A timer that is later than this means that this process is slow, not the client, which then gets more time. */
const timerLateMs = 50;
const extensionsMax = 8;

const slotsPerClient = 2;

interface HeldSlot {
  readonly client: string;
  timer: NodeJS.Timeout | undefined;
}

export class HandshakeQueue<C extends object> {
  readonly #options: HandshakeQueueOptions;
  /** By client, in the order of their turns; the connections of each in the order in which they came. */
  readonly #waiting = new Map<string, Map<C, () => void>>();
  readonly #clients = new Map<C, string>();
  readonly #held = new Map<C, HeldSlot>();
  readonly #heldBy = new Map<string, number>();

  constructor(options: HandshakeQueueOptions) {
    this.#options = options;
  }

  /** Calls `begin` when it is the turn of this client and a slot is free. */
  add(connection: C, client: string, begin: () => void): void {
    const waiting = this.#waiting.get(client) ?? new Map<C, () => void>();
    this.#waiting.set(client, waiting.set(connection, begin));
    this.#clients.set(connection, client);
    this.#startNext();
  }

  /** The client now waits for our answer: its slot stays taken until `remove`, however long the answer takes. */
  keepSlot(connection: C): void {
    clearTimeout(this.#held.get(connection)?.timer);
  }

  /** The connection is answered or closed: the next may start. */
  remove(connection: C): void {
    this.#stopWaiting(connection);
    const slot = this.#held.get(connection);
    if (slot === undefined) return;
    clearTimeout(slot.timer);
    this.#held.delete(connection);
    const left = (this.#heldBy.get(slot.client) ?? 1) - 1;
    if (left === 0) this.#heldBy.delete(slot.client);
    else this.#heldBy.set(slot.client, left);
    this.#startNext();
  }

  #stopWaiting(connection: C): void {
    const client = this.#clients.get(connection);
    if (client === undefined) return;
    this.#clients.delete(connection);
    const waiting = this.#waiting.get(client);
    waiting?.delete(connection);
    if (waiting?.size === 0) this.#waiting.delete(client);
  }

  #startNext(): void {
    const { slots } = this.#options;
    this.#startWithin({ each: slotsPerClient, inAll: slots });
    this.#startWithin({ each: slots, inAll: slots / 2 });
  }

  /** A client that was served goes to the end of the turns: the loop comes to it again after all others. */
  #startWithin({ each, inAll }: { readonly each: number; readonly inAll: number }): void {
    for (const [client, waiting] of this.#waiting) {
      if (this.#held.size >= inAll) return;
      if ((this.#heldBy.get(client) ?? 0) >= each) continue;
      const [next] = waiting;
      if (next === undefined) continue;
      const [connection, begin] = next;
      this.#stopWaiting(connection);
      if (this.#waiting.delete(client)) this.#waiting.set(client, waiting);
      this.#heldBy.set(client, (this.#heldBy.get(client) ?? 0) + 1);
      this.#held.set(connection, { client, timer: undefined });
      this.#limitTime(connection, extensionsMax);
      begin();
    }
  }

  #limitTime(connection: C, left: number): void {
    const slot = this.#held.get(connection);
    if (slot === undefined) return;
    const { slotMs } = this.#options;
    const dueMs = performance.now() + slotMs;
    slot.timer = setTimeout(() => {
      if (left > 0 && performance.now() - dueMs > timerLateMs) this.#limitTime(connection, left - 1);
      else this.remove(connection);
    }, slotMs);
  }
}
