// A token bucket for each client: so many at once, then one per interval. It bounds what a stranger can make the server
// do for others to pay: reads of the API, lines of the log.
import { clientNetwork } from '../host/client-network.ts';
import type { Clock } from '../host/clock.ts';

export interface RateLimitOptions {
  /** At once, of each client. */
  readonly burst: number;
  /** Then one more after this time. */
  readonly everyMs: number;
}

/** Clients that are remembered; beyond that the ones seen longest ago are forgotten. */
const clientsMax = 4_096;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

export class RateLimit {
  readonly #clock: Clock;
  readonly #options: RateLimitOptions;
  /** In the order in which they were seen last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, options: RateLimitOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** False when the client at this address has had its share. */
  take(address: string): boolean {
    const { burst, everyMs } = this.#options;
    const client = clientNetwork(address);
    const atMs = this.#clock.monotonicMs();
    const before = this.#buckets.get(client) ?? { left: burst, atMs };
    const left = Math.min(burst, before.left + (atMs - before.atMs) / everyMs);
    const isAllowed = left >= 1;
    this.#buckets.delete(client);
    this.#buckets.set(client, { left: isAllowed ? left - 1 : left, atMs });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > clientsMax && oldest !== undefined) this.#buckets.delete(oldest);
    return isAllowed;
  }
}
