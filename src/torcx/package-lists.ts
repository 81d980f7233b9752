// The package list of each OS version, fetched at most once per run and used only after its signature is verified.
import type { Bucket } from './bucket.ts';
import type { TorcxContext } from './context.ts';
import { reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { renderManifestUrl } from './manifest-url.ts';
import { type Keyring, type ManifestSigner, verifyDetached } from './openpgp-signature.ts';
import { type PackageManifest, parsePackageManifest } from './package-manifest.ts';

const listBytesMax = 8 * 1024 * 1024;
const signatureBytesMax = 256 * 1024;

export interface PackageList {
  readonly osVersion: string;
  readonly url: string;
  readonly manifest: PackageManifest;
  /** Undefined when signatures are not verified. */
  readonly signer?: ManifestSigner;
}

export type PackageLists = (osVersion: string) => Promise<PackageList>;

/** `keyring` undefined: signatures are neither fetched nor verified. */
export function packageLists(
  context: TorcxContext,
  {
    bucket,
    board,
    keyring,
  }: { readonly bucket: Bucket; readonly board: string; readonly keyring: Keyring | undefined },
): PackageLists {
  const fetched = new Map<string, Promise<PackageList>>();
  return (osVersion) => {
    const known = fetched.get(osVersion) ?? fetchList(context, { bucket, keyring, board, osVersion });
    fetched.set(osVersion, known);
    return known;
  };
}

interface Wanted {
  readonly bucket: Bucket;
  readonly keyring: Keyring | undefined;
  readonly board: string;
  readonly osVersion: string;
}

async function fetchList(context: TorcxContext, { bucket, keyring, board, osVersion }: Wanted): Promise<PackageList> {
  const url = renderManifestUrl(context.settings.manifestUrl, { board, osVersion });
  const content = await bucket.read(url, listBytesMax).catch((error: unknown) => rethrow(url, error));
  const signer = keyring === undefined ? undefined : await checkSignature(context, { bucket, keyring, url, content });
  try {
    const manifest = parsePackageManifest(content);
    return { osVersion, url, manifest, ...(signer === undefined ? {} : { signer }) };
  } catch (error) {
    throw torcxErrors.MANIFEST({ url, reason: reasonOf(error) }, { cause: error });
  }
}

async function checkSignature(
  context: TorcxContext,
  signed: { readonly bucket: Bucket; readonly keyring: Keyring; readonly url: string; readonly content: Uint8Array },
): Promise<ManifestSigner> {
  const { url, content, keyring } = signed;
  const signatureUrl = `${url}.asc`;
  const signature = await signed.bucket
    .read(signatureUrl, signatureBytesMax)
    .catch((error: unknown) => rethrow(signatureUrl, error));
  const { isStrictAboutKeyExpiry } = context.settings;
  const now = context.host.clock.now();
  const signer = await verifyDetached({ content, signature, keyring, now, isStrictAboutKeyExpiry }).catch(
    (error: unknown) => {
      throw torcxErrors.SIGNATURE({ url, reason: reasonOf(error) }, { cause: error });
    },
  );
  for (const warning of signer.warnings) context.say('warn', `${url}: ${warning}`);
  context.say('info', `${url}: signed by ${signer.userId} (${signer.keyId}) at ${signer.signedAt.toISOString()}`);
  return signer;
}

function rethrow(url: string, error: unknown): never {
  if (error instanceof Error && error.name === 'FirstlightError') throw error;
  throw torcxErrors.BUCKET({ url, reason: reasonOf(error) }, { cause: error });
}
