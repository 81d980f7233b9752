// Randomness. Keys and tokens are made only from `bytes`, so a seeded Random gives the same ones again.
export interface Random {
  bytes(count: number): Uint8Array;
}

/** A whole number in [0, limit), unbiased. */
export function randomInt(random: Random, limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 2 ** 32) throw new RangeError(`bad limit ${limit}`);
  const ceiling = Math.floor(2 ** 32 / limit) * limit;
  for (;;) {
    const bytes = random.bytes(4);
    const value = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (value < ceiling) return value % limit;
  }
}

/** A number in [0, 1), for jitter. */
export function randomFraction(random: Random): number {
  return randomInt(random, 2 ** 32) / 2 ** 32;
}

/** `length` characters of `alphabet`, each equally likely. */
export function randomText(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(random, alphabet.length)]).join('');
}

/** A version 4 UUID (RFC 9562 §5.4). */
export function randomUuid(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
