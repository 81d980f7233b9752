// The kernel's randomness.
import { randomBytes } from 'node:crypto';
import type { Random } from '../random.ts';

export function realRandom(): Random {
  return { bytes: (count) => new Uint8Array(randomBytes(count)) };
}
