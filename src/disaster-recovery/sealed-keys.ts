// The keys that encrypt Secrets, as a backup holds them: encrypted by a key that is derived from the key of root-ca,
// which never leaves the asset folder. A backup alone therefore opens no Secret, and a backup from before a rotation
// can still be restored with the folder of today.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '../host/random.ts';
import type { Secret } from '../host/secret.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

function sealingKey(rootCaKey: Secret, clusterId: string): Uint8Array {
  const source = Buffer.from(rootCaKey.reveal().trim());
  return new Uint8Array(hkdfSync('sha256', source, clusterId, 'firstlight backup keys v1', 32));
}

export interface Sealing {
  /** The text of tls/root-ca.key. */
  readonly rootCaKey: Secret;
  /** A sealed text opens for the cluster that it was made for and for no other. */
  readonly clusterId: string;
}

export function sealText(text: string, { rootCaKey, clusterId }: Sealing, random: Random): string {
  const nonce = random.bytes(nonceBytes);
  const sealing = createCipheriv(cipher, sealingKey(rootCaKey, clusterId), nonce);
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString('base64');
}

/** Undefined where another key has sealed it, or where it was altered. */
export function openText(sealed: string, { rootCaKey, clusterId }: Sealing): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const opening = createDecipheriv(cipher, sealingKey(rootCaKey, clusterId), bytes.subarray(0, nonceBytes));
  opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
