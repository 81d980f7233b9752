// Limits the open connections of a server, in total and per client address. At the limit of an address, a new
// connection replaces the one that has been quiet longest. At the limit of all, the address with the most connections
// gives one of its own, however young, so that a few addresses cannot keep others out. A connection with a request
// under way is never closed for another one.
import type { ServerLimits } from '../https-server.ts';

export interface ConnectionLimiterOptions {
  readonly limits: Pick<ServerLimits, 'connections' | 'connectionsPerAddress'>;
  readonly nowMs: () => number;
  readonly onFull: (address: string, limit: 'all' | 'address', closed: 'old' | 'new') => void;
}

/** A connection must have been quiet for this time before its own address may replace it. A new one is quiet, too. */
export const quietMsMin = 1_000;

export interface LimitedConnection {
  readonly close: () => void;
  /** A request is not answered yet, or the client has not taken the whole answer. */
  readonly isBusy: () => boolean;
}

interface ConnectionEntry {
  address: string | undefined;
  /** Time of the last event: connected, request started, or request answered. */
  sinceMs: number;
}

export class ConnectionLimiter<C extends LimitedConnection> {
  readonly #options: ConnectionLimiterOptions;
  readonly #entries = new Map<C, ConnectionEntry>();
  /** In the order in which they connected or were answered last, so the longest quiet one is first. */
  readonly #order = new Set<C>();
  readonly #byAddress = new Map<string, Set<C>>();

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** False if there is no room: then the caller closes the new connection. */
  add(connection: C, address: string): boolean {
    const { limits } = this.#options;
    if (this.#entries.size >= limits.connections && !this.#makeRoomForAll(address)) return false;
    this.#entries.set(connection, { address: undefined, sinceMs: this.#options.nowMs() });
    this.#order.add(connection);
    return true;
  }

  /** Counts the connection for the address of its client, which may be known only later. False as for `add`. */
  countUnder(connection: C, address: string): boolean {
    const entry = this.#entries.get(connection);
    if (entry === undefined) return false;
    const sameAddress = this.#byAddress.get(address) ?? new Set<C>();
    const isFull = sameAddress.size >= this.#options.limits.connectionsPerAddress;
    if (isFull && !this.#replace(this.#quietest(sameAddress), 'address', address)) return false;
    // Making room may have removed the last connection of the address, and its set with it.
    const current = this.#byAddress.get(address) ?? sameAddress;
    this.#byAddress.set(address, current.add(connection));
    entry.address = address;
    return true;
  }

  requestStarted(connection: C): void {
    const entry = this.#entries.get(connection);
    if (entry !== undefined) entry.sinceMs = this.#options.nowMs();
  }

  requestAnswered(connection: C): void {
    const entry = this.#entries.get(connection);
    if (entry === undefined) return;
    entry.sinceMs = this.#options.nowMs();
    this.#order.delete(connection);
    this.#order.add(connection);
  }

  remove(connection: C): void {
    const entry = this.#entries.get(connection);
    this.#entries.delete(connection);
    this.#order.delete(connection);
    if (entry?.address === undefined) return;
    const sameAddress = this.#byAddress.get(entry.address);
    sameAddress?.delete(connection);
    if (sameAddress?.size === 0) this.#byAddress.delete(entry.address);
  }

  /** Closes connections that have been busy longer than this. */
  closeStuck(longestMs: number, closed: (connection: C) => void): void {
    const since = this.#options.nowMs() - longestMs;
    for (const [connection, { sinceMs }] of this.#entries) {
      if (!connection.isBusy() || sinceMs > since) continue;
      closed(connection);
      connection.close();
    }
  }

  /** Closes the candidates that have been quiet longer than this. */
  closeQuiet(longestMs: number, isCandidate: (connection: C) => boolean): void {
    const since = this.#options.nowMs() - longestMs;
    for (const connection of this.#order) {
      if (connection.isBusy()) continue;
      if ((this.#entries.get(connection)?.sinceMs ?? 0) > since) return;
      if (isCandidate(connection)) connection.close();
    }
  }

  /** Closes all connections, or only those that another connection could replace. */
  clear(which: 'quiet' | 'all'): void {
    const since = this.#options.nowMs() - quietMsMin;
    for (const [connection, { sinceMs }] of this.#entries) {
      if (which === 'all' || (!connection.isBusy() && sinceMs <= since)) connection.close();
    }
  }

  #makeRoomForAll(address: string): boolean {
    let most: ReadonlySet<C> | undefined;
    for (const same of this.#byAddress.values()) if (same.size > (most?.size ?? 1)) most = same;
    const spare = most === undefined ? undefined : this.#quietest(most, 0);
    return this.#replace(spare ?? this.#quietest(this.#order), 'all', address);
  }

  #replace(oldest: C | undefined, limit: 'all' | 'address', address: string): boolean {
    this.#options.onFull(address, limit, oldest === undefined ? 'new' : 'old');
    if (oldest === undefined) return false;
    this.remove(oldest);
    oldest.close();
    return true;
  }

  #quietest(candidates: ReadonlySet<C>, leastMs = quietMsMin): C | undefined {
    let found: C | undefined;
    let since = this.#options.nowMs() - leastMs;
    for (const connection of candidates) {
      const sinceMs = this.#entries.get(connection)?.sinceMs;
      if (sinceMs === undefined || sinceMs > since || connection.isBusy()) continue;
      found = connection;
      since = sinceMs - 1;
      // This set is in order of time, so the first match is the oldest.
      if (candidates === this.#order) break;
    }
    return found;
  }
}
