// The two facts about P-256 that key generation needs: the order of the group, and the point that belongs to a scalar.
import { createECDH } from 'node:crypto';

/** The order of the group (SEC 2 §2.4.2). */
export const p256Order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The point that belongs to a scalar, uncompressed: 0x04 ‖ x ‖ y. */
export function p256Point(scalar: Uint8Array): Uint8Array {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalar);
  return new Uint8Array(curve.getPublicKey());
}
