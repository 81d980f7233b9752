// Who may stay connected. A server has room for so many connections in all and per address; when there is no room, the
// one that has been quiet longest makes way, so that clients which connect and say nothing cannot keep others out. A
// connection with a request under way is never closed for another.
import type { ServerLimits } from '../https-server.ts';

export interface GateOptions {
  readonly limits: Pick<ServerLimits, 'connections' | 'connectionsPerAddress'>;
  readonly nowMs: () => number;
  readonly onFull: (address: string, limit: 'all' | 'address', closed: 'old' | 'new') => void;
}

/** A new connection is quiet too, until its first request; this long it may not be closed for another. */
export const quietAtLeastMs = 1_000;

export interface Guest {
  readonly close: () => void;
  /** A request of it has not been answered, or it has not taken the answer. Asked for when it matters, not told each time. */
  readonly isBusy: () => boolean;
}

interface Seat {
  address: string | undefined;
  /** When it came, asked or was answered last. */
  sinceMs: number;
}

export class ConnectionGate<G extends Guest> {
  readonly #options: GateOptions;
  readonly #seats = new Map<G, Seat>();
  /** In the order in which they came or were answered: that of those who are quiet. */
  readonly #order = new Set<G>();
  readonly #byAddress = new Map<string, Set<G>>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#seats.size;
  }

  /** False: no room, the caller closes the newcomer. */
  enter(guest: G, address: string): boolean {
    const { limits } = this.#options;
    if (this.#seats.size >= limits.connections && !this.#makeRoom(this.#order, 'all', address)) return false;
    this.#seats.set(guest, { address: undefined, sinceMs: this.#options.nowMs() });
    this.#order.add(guest);
    return true;
  }

  /** Counts the guest under the address it really comes from, once that is known. False as for `enter`. */
  seat(guest: G, address: string): boolean {
    const seat = this.#seats.get(guest);
    if (seat === undefined) return false;
    const neighbours = this.#byAddress.get(address) ?? new Set<G>();
    const isFull = neighbours.size >= this.#options.limits.connectionsPerAddress;
    if (isFull && !this.#makeRoom(neighbours, 'address', address)) return false;
    // Making room may have emptied the address and forgotten it.
    const current = this.#byAddress.get(address) ?? neighbours;
    this.#byAddress.set(address, current.add(guest));
    seat.address = address;
    return true;
  }

  asked(guest: G): void {
    const seat = this.#seats.get(guest);
    if (seat !== undefined) seat.sinceMs = this.#options.nowMs();
  }

  answered(guest: G): void {
    const seat = this.#seats.get(guest);
    if (seat === undefined) return;
    seat.sinceMs = this.#options.nowMs();
    this.#order.delete(guest);
    this.#order.add(guest);
  }

  leave(guest: G): void {
    const seat = this.#seats.get(guest);
    this.#seats.delete(guest);
    this.#order.delete(guest);
    if (seat?.address === undefined) return;
    const neighbours = this.#byAddress.get(seat.address);
    neighbours?.delete(guest);
    if (neighbours?.size === 0) this.#byAddress.delete(seat.address);
  }

  /** Closes those that have been waiting for an answer, or taking it, longer than this. */
  closeStuck(longestMs: number, closed: (guest: G) => void): void {
    const since = this.#options.nowMs() - longestMs;
    for (const [guest, { sinceMs }] of this.#seats) {
      if (!guest.isBusy() || sinceMs > since) continue;
      closed(guest);
      guest.close();
    }
  }

  /** Closes those that have been quiet longer than this, as far as they are meant. */
  closeQuiet(longestMs: number, isMeant: (guest: G) => boolean): void {
    const since = this.#options.nowMs() - longestMs;
    for (const guest of this.#order) {
      if (guest.isBusy()) continue;
      if ((this.#seats.get(guest)?.sinceMs ?? 0) > since) return;
      if (isMeant(guest)) guest.close();
    }
  }

  /** Closes those that nobody would miss; `all` closes every one. */
  clear(which: 'quiet' | 'all'): void {
    const since = this.#options.nowMs() - quietAtLeastMs;
    for (const [guest, { sinceMs }] of this.#seats) {
      if (which === 'all' || (!guest.isBusy() && sinceMs <= since)) guest.close();
    }
  }

  #makeRoom(candidates: ReadonlySet<G>, limit: 'all' | 'address', address: string): boolean {
    const victim = this.#quietest(candidates);
    this.#options.onFull(address, limit, victim === undefined ? 'new' : 'old');
    if (victim === undefined) return false;
    this.leave(victim);
    victim.close();
    return true;
  }

  #quietest(candidates: ReadonlySet<G>): G | undefined {
    let found: G | undefined;
    let since = this.#options.nowMs() - quietAtLeastMs;
    for (const guest of candidates) {
      const sinceMs = this.#seats.get(guest)?.sinceMs;
      if (sinceMs === undefined || sinceMs > since || guest.isBusy()) continue;
      found = guest;
      since = sinceMs - 1;
      // Already in order: the first is the one.
      if (candidates === this.#order) break;
    }
    return found;
  }
}
