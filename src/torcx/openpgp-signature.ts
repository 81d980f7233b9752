// Detached OpenPGP signatures of package lists. The first signature whose issuer is in the keyring decides. It must
// verify, and its key must not be revoked and must have been valid when it signed. Whether a key that expired later is
// refused or only a warning is a setting, because all keys of the original publisher have expired.
// test/oracle/torcx-signature.test.ts compares with gpgv; this file is stricter about SHA-1 and about signatures made
// after the expiry.
import type { Key, PublicKey, SignaturePacket, Subkey } from 'openpgp';
import { reasonOf } from './context.ts';

export interface Keyring {
  readonly keys: readonly PublicKey[];
  /** Number of blocks that could not be read; one usable key is enough. */
  readonly unreadable: number;
}

export interface ManifestSigner {
  readonly keyId: string;
  readonly userId: string;
  readonly signedAt: Date;
  readonly warnings: readonly string[];
}

/** Reads every armored block (or one binary ring). Throws a plain Error when no key is usable. */
export async function readKeyring(content: Uint8Array): Promise<Keyring> {
  const openpgp = await import('openpgp');
  const text = Buffer.from(content).toString('latin1');
  const blocks = text.match(/-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]*?-----END PGP PUBLIC KEY BLOCK-----/g);
  const reads =
    blocks === null
      ? [openpgp.readKeys({ binaryKeys: new Uint8Array(content) })]
      : blocks.map((block) => openpgp.readKeys({ armoredKeys: block }));
  const results = await Promise.allSettled(reads);
  const keys = results.flatMap((result) => (result.status === 'fulfilled' ? result.value.map(toPublic) : []));
  if (keys.length === 0) throw new Error('it holds no usable public key');
  return { keys, unreadable: results.filter((result) => result.status === 'rejected').length };
}

function toPublic(key: Key): PublicKey {
  return key.toPublic();
}

export interface SignedContent {
  readonly content: Uint8Array;
  readonly signature: Uint8Array;
  readonly keyring: Keyring;
  readonly now: Date;
  /** Also refuse a key that has expired after it signed. */
  readonly isStrictAboutKeyExpiry: boolean;
}

/** Who signed. Throws a plain Error that says why no signature is acceptable. */
export async function verifyDetached(signed: SignedContent): Promise<ManifestSigner> {
  const openpgp = await import('openpgp');
  const armored = Buffer.from(signed.signature).toString('latin1');
  if (!armored.includes('-----BEGIN PGP SIGNATURE-----')) throw new Error('it is not an armored signature');
  const { packets } = await openpgp.readSignature({ armoredSignature: armored });
  const unknown: string[] = [];
  for (const packet of packets) {
    const issuer = packet.issuerKeyID;
    const key = signed.keyring.keys.find((candidate) => candidate.getKeys(issuer).length > 0);
    const [part] = key?.getKeys(issuer) ?? [];
    if (key !== undefined && part !== undefined) return judge(signed, packet, { key, part });
    unknown.push(issuer.toHex().toUpperCase());
  }
  throw new Error(unknown.length === 0 ? 'it holds no signature' : `key ${unknown.join(', ')} is not in the keyring`);
}

interface Issuer {
  readonly key: PublicKey;
  /** The key itself or the subkey that signed. */
  readonly part: Key | Subkey;
}

async function judge(signed: SignedContent, packet: SignaturePacket, issuer: Issuer): Promise<ManifestSigner> {
  const keyId = packet.issuerKeyID.toHex().toUpperCase();
  const signedAt = packet.created;
  if (signedAt === null) throw new Error('the signature has no date');
  if (await isRevoked(issuer)) throw new Error(`key ${keyId} is revoked`);
  await verifyPacket(signed.content, packet, issuer);
  const warnings: string[] = [];
  const expiresAt = packet.getExpirationTime();
  if (expiresAt instanceof Date && expiresAt <= signed.now) {
    throw new Error(`the signature itself expired on ${day(expiresAt)}`);
  }
  if (signedAt > signed.now) warnings.push(`it is dated ${day(signedAt)}, in the future of this node's clock`);
  const endsAt = await expiryOf(issuer);
  if (endsAt !== undefined && endsAt <= signedAt) throw new Error(`key ${keyId} had expired when it signed`);
  if (endsAt !== undefined && endsAt <= signed.now) {
    if (signed.isStrictAboutKeyExpiry) throw new Error(`key ${keyId} expired on ${day(endsAt)}`);
    warnings.push(`key ${keyId} expired on ${day(endsAt)}, after it signed`);
  }
  return { keyId, userId: issuer.key.getUserIDs()[0] ?? 'no user id', signedAt, warnings };
}

/**
 * Checks the signature, its hash algorithm and the key's right to sign, at the date of the signature. If a key's expiry
 * was extended, a younger self-signature replaced the old one and nothing certifies the key at the earlier date; then
 * the check uses the date of the youngest self-signature. `judge` checks the dates in both cases.
 */
async function verifyPacket(content: Uint8Array, packet: SignaturePacket, issuer: Issuer): Promise<void> {
  const openpgp = await import('openpgp');
  const message = await openpgp.createMessage({ binary: content });
  const list = new openpgp.PacketList<SignaturePacket>();
  list.push(packet);
  const verifyAt = async (date: Date): Promise<void> => {
    const { signatures } = await openpgp.verify({
      message,
      signature: new openpgp.Signature(list),
      verificationKeys: issuer.key,
      format: 'binary',
      date,
      config: { allowInsecureVerificationWithReformattedKeys: true },
    });
    await signatures[0]?.verified;
    if (signatures.length !== 1) throw new Error('it is not a signature over a document');
  };
  const signedAt = packet.created ?? new Date(0);
  try {
    await verifyAt(signedAt);
  } catch (error) {
    const youngest = youngestSelfSignature(issuer.key);
    if (!/in the future/.test(reasonOf(error)) || youngest <= signedAt) throw error;
    await verifyAt(youngest);
  }
}

function youngestSelfSignature(key: PublicKey): Date {
  const packets = [
    ...key.users.flatMap((user) => user.selfCertifications),
    ...key.subkeys.flatMap((subkey) => subkey.bindingSignatures),
  ];
  return new Date(Math.max(0, ...packets.map((packet) => packet.created?.getTime() ?? 0)));
}

/** Any revocation counts, whatever its date or reason: the keyring says that the key must not be used. */
async function isRevoked({ key, part }: Issuer): Promise<boolean> {
  if (key.revocationSignatures.length > 0) return true;
  return 'bindingSignatures' in part && part.revocationSignatures.length > 0;
}

/** The earlier expiry of key and subkey, by their latest self-signatures; undefined if neither expires. */
async function expiryOf({ key, part }: Issuer): Promise<Date | undefined> {
  const ends = [await key.getExpirationTime(), await part.getExpirationTime()];
  const dates = ends.filter((end) => end instanceof Date);
  return dates.length === 0 ? undefined : new Date(Math.min(...dates.map((date) => date.getTime())));
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
