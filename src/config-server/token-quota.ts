// How many single-use tokens may be outstanding: in all, for each pool and for each address. Each costs a line of the
// ledger or an object in etcd for an hour, and whoever has a pool token can ask for more. What the machines of one pool
// or one address take must leave room for others, and for masters there is a reserve that nobody else can use.
import { clientNetwork } from '../host/client-network.ts';

export interface CountedToken {
  readonly pool: string;
  /** The address of the machine, where it is known. */
  readonly issuedTo?: string | undefined;
}

/** A machine needs one, and one more whenever an answer was lost. */
export const tokensPerAddress = 16;
/** An address with more than these does not count as a machine that merely joins. */
const fewTokens = 2;
/** Of all: for pools other than masters; and of these for addresses that hold more than a few. */
const workersShare = 0.8;
const greedyShare = 0.5;

export class TokenQuota {
  readonly #limit: number;
  readonly #byPool = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add({ pool, issuedTo }: CountedToken): void {
    change(this.#byPool, pool, 1);
    if (issuedTo !== undefined) change(this.#byAddress, clientNetwork(issuedTo), 1);
  }

  remove({ pool, issuedTo }: CountedToken): void {
    change(this.#byPool, pool, -1);
    if (issuedTo !== undefined) change(this.#byAddress, clientNetwork(issuedTo), -1);
  }

  /** The limit that keeps this machine from a token; undefined when none does. */
  reached({ pool, issuedTo }: CountedToken): number | undefined {
    const held = issuedTo === undefined ? 0 : (this.#byAddress.get(clientNetwork(issuedTo)) ?? 0);
    if (held >= tokensPerAddress) return tokensPerAddress;
    const masters = this.#byPool.get('master') ?? 0;
    const others = [...this.#byPool.values()].reduce((sum, count) => sum + count, 0) - masters;
    const limit = Math.max(
      1,
      Math.floor(this.#limit * (held >= fewTokens ? workersShare * greedyShare : workersShare)),
    );
    if (pool !== 'master') return others >= limit ? limit : undefined;
    return others + masters >= this.#limit ? this.#limit : undefined;
  }
}

function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
