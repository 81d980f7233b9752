// OpenPGP signatures of a release: detached, over the exact bytes of the release image's manifest, whose digest names
// the release. gpgv can check them. They are beside the entries of the cache, because an entry never changes.
import { dirname, join } from 'node:path';
import {
  createMessage,
  decryptKey,
  enums,
  type Key,
  readKey,
  readPrivateKey,
  readSignature,
  sign,
  verify,
} from 'openpgp';
import type { Host } from '../host/host.ts';
import { currentRelease } from './current.ts';
import { releaseErrors } from './errors.ts';
import { blobFolder } from './images/oci-image.ts';

/** `signatures/sha256=<digest>/signature-1` in the cache folder. */
export function signaturePath(cacheFolder: string, digest: string): string {
  return join(cacheFolder, 'signatures', `sha256=${digest}`, 'signature-1');
}

export interface SignOptions {
  readonly manifest: Uint8Array;
  /** A file with one secret key, armored or binary. */
  readonly keyPath: string;
  readonly passphrase?: string;
}

export async function signRelease(host: Host, options: SignOptions): Promise<Uint8Array> {
  const { keyPath: path, passphrase } = options;
  const bytes = await host.files.read(path);
  try {
    const armoredKey = armoredText(bytes);
    const key = await (armoredKey === undefined
      ? readPrivateKey({ binaryKey: bytes })
      : readPrivateKey({ armoredKey }));
    const open = key.isDecrypted() ? key : await decryptKey({ privateKey: key, passphrase: passphrase ?? '' });
    const message = await createMessage({ binary: options.manifest });
    return await sign({ message, signingKeys: open, detached: true, format: 'binary', date: host.clock.now() });
  } catch (error) {
    throw releaseErrors.KEY_UNREADABLE({ path, reason: (error as Error).message }, { cause: error });
  }
}

export interface VerifyOptions {
  readonly manifest: Uint8Array;
  readonly digest: string;
  readonly signature: Uint8Array;
  readonly keyPath: string;
}

export interface ReleaseSigner {
  readonly fingerprint: string;
  readonly at: Date;
}

/** The signer; throws RELEASE_SIGNATURE_WRONG unless the given key made a valid signature. */
export async function verifySignature(host: Host, options: VerifyOptions): Promise<ReleaseSigner> {
  const { digest, manifest, signature: bytes } = options;
  const key = await publicKey(host, options.keyPath);
  try {
    const signature = await readSignature({ binarySignature: bytes });
    const message = await createMessage({ binary: manifest });
    const { signatures } = await verify({ message, signature, verificationKeys: key, date: host.clock.now() });
    const [first] = signatures;
    if (first === undefined) throw new Error('the file holds no signature');
    await first.verified;
    const packet = (await first.signature).packets[0];
    if (packet?.signatureType !== enums.signature.binary) throw new Error('it does not sign binary data');
    return { fingerprint: key.getFingerprint(), at: packet.created ?? host.clock.now() };
  } catch (error) {
    throw releaseErrors.SIGNATURE_WRONG({ digest, reason: (error as Error).message }, { cause: error });
  }
}

async function publicKey(host: Host, path: string): Promise<Key> {
  const bytes = await host.files.read(path);
  try {
    const armoredKey = armoredText(bytes);
    return await (armoredKey === undefined ? readKey({ binaryKey: bytes }) : readKey({ armoredKey }));
  } catch (error) {
    throw releaseErrors.KEY_UNREADABLE({ path, reason: (error as Error).message }, { cause: error });
  }
}

function armoredText(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  return text.includes('-----BEGIN PGP') ? text : undefined;
}

/** Signs the current release and writes the signature into the cache; returns its path. */
export async function signCurrentRelease(host: Host, keyPath: string): Promise<string> {
  const { cache, digest, release } = await currentRelease(host);
  const manifest = await host.files.read(join(release.content, blobFolder, digest));
  const passphrase = host.environment.variables['FIRSTLIGHT_SIGN_PASSPHRASE'];
  const options = { manifest, keyPath, ...(passphrase === undefined ? {} : { passphrase }) };
  const signature = await signRelease(host, options);
  const path = signaturePath(cache.folder, digest);
  await host.files.makeFolder(dirname(path));
  await host.files.write(path, signature);
  return path;
}
