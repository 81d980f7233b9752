// Randomness from a seed: SHA-256 in counter mode. The same seed gives the same bytes on every machine.
import { createHash } from 'node:crypto';
import type { Random } from '../random.ts';

export function seededRandom(seed: string): Random {
  let counter = 0;
  let pool = Buffer.alloc(0);
  return {
    bytes: (count) => {
      while (pool.length < count) {
        pool = Buffer.concat([pool, createHash('sha256').update(`${seed}/${counter}`).digest()]);
        counter += 1;
      }
      const taken = Uint8Array.from(pool.subarray(0, count));
      pool = pool.subarray(count);
      return taken;
    },
  };
}
