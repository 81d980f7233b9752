// Digests of content: hex SHA-256 of one text or file, and one digest over a set of named values.
import { createHash } from 'node:crypto';

export type Digest = string;

export function digestOf(content: Uint8Array | string): Digest {
  return createHash('sha256').update(content).digest('hex');
}

/** One digest over a record, independent of the order of its keys. */
export function digestOfRecord(record: Readonly<Record<string, string>>): Digest {
  const hash = createHash('sha256');
  for (const key of Object.keys(record).sort()) hash.update(`${JSON.stringify([key, record[key]])}\n`);
  return hash.digest('hex');
}
