// Handshakes in turns. A TLS connection costs some sixty kilobytes and a millisecond of work, so when a thousand clients
// come at once, a few begin and the others wait where they cost next to nothing: everybody is served sooner than if all
// were begun together. Nobody holds a place for longer than a moment while we wait for him, so that clients which begin
// and do not go on delay others by that moment and no more.

export interface WaitingRoomOptions {
  readonly places: number;
  /** A place is free again after this time even if its holder is not done. */
  readonly heldMs: number;
}

/** A timer that is late by this much says that we are slow, not the client: it gets its time again. */
const lateMs = 50;
const extensions = 8;

export class WaitingRoom<G extends object> {
  readonly #options: WaitingRoomOptions;
  readonly #waiting = new Map<G, () => void>();
  readonly #holding = new Map<G, NodeJS.Timeout>();

  constructor(options: WaitingRoomOptions) {
    this.#options = options;
  }

  /** Half of the places are free: whoever comes may begin at once, whatever he means to do. */
  get isCalm(): boolean {
    return this.#holding.size < this.#options.places / 2;
  }

  /** Calls `begin` when there is a place, in the order of coming. */
  enter(guest: G, begin: () => void): void {
    this.#waiting.set(guest, begin);
    this.#admit();
  }

  /** It is our turn now and not the guest's: he keeps his place until `leave`, however long we take. */
  stay(guest: G): void {
    clearTimeout(this.#holding.get(guest));
  }

  /** Done, or gone: the next may begin. */
  leave(guest: G): void {
    this.#waiting.delete(guest);
    const timer = this.#holding.get(guest);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#holding.delete(guest);
    this.#admit();
  }

  #admit(): void {
    for (const [guest, begin] of this.#waiting) {
      if (this.#holding.size >= this.#options.places) return;
      this.#waiting.delete(guest);
      this.#hold(guest, extensions);
      begin();
    }
  }

  #hold(guest: G, left: number): void {
    const { heldMs } = this.#options;
    const dueMs = performance.now() + heldMs;
    const expire = (): void => {
      if (left > 0 && performance.now() - dueMs > lateMs) this.#hold(guest, left - 1);
      else this.leave(guest);
    };
    this.#holding.set(guest, setTimeout(expire, heldMs));
  }
}
