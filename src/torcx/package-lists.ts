// The package list of each OS version, fetched at most once per run and used only after its signature is verified and
// nothing speaks against it being the newest list for this board and OS version.
import type { Bucket } from './bucket.ts';
import type { TorcxContext } from './context.ts';
import { reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { acceptedList, type ListMemory } from './list-memory.ts';
import { renderManifestUrl } from './manifest-url.ts';
import { type Keyring, type ManifestSigner, verifyDetached } from './openpgp-signature.ts';
import {
  isBoundList,
  type ListSubject,
  otherSubject,
  type PackageManifest,
  parsePackageManifest,
} from './package-manifest.ts';

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

interface ListSources {
  readonly bucket: Bucket;
  readonly board: string;
  /** Undefined: signatures are neither fetched nor verified. */
  readonly keyring: Keyring | undefined;
  readonly memory: ListMemory;
}

export function packageLists(context: TorcxContext, sources: ListSources): PackageLists {
  const fetched = new Map<string, Promise<PackageList>>();
  return (osVersion) => {
    const known = fetched.get(osVersion) ?? fetchList(context, sources, osVersion);
    fetched.set(osVersion, known);
    return known;
  };
}

async function fetchList(context: TorcxContext, sources: ListSources, osVersion: string): Promise<PackageList> {
  const { bucket, keyring, board, memory } = sources;
  const subject = { board, osVersion };
  const url = renderManifestUrl(context.settings.manifestUrl, subject);
  const content = await bucket.read(url, listBytesMax).catch((error: unknown) => rethrow(url, error));
  const signed = keyring === undefined ? undefined : await checkSignature(context, { bucket, keyring, url, content });
  const manifest = parseList(url, content);
  checkSubject(context, { manifest, url, subject });
  if (signed === undefined) return { osVersion, url, manifest };
  const list = acceptedList(subject, { ...signed, now: context.host.clock.now() });
  const reason = memory.accept(list, isBoundList(manifest));
  if (reason !== undefined) throw torcxErrors.REPLAY({ url, reason });
  return { osVersion, url, manifest, signer: signed.signer };
}

function parseList(url: string, content: Uint8Array): PackageManifest {
  try {
    return parsePackageManifest(content);
  } catch (error) {
    throw torcxErrors.MANIFEST({ url, reason: reasonOf(error) }, { cause: error });
  }
}

interface FetchedList {
  readonly manifest: PackageManifest;
  readonly url: string;
  readonly subject: ListSubject;
}

/** What the list says about itself must fit; a list that says nothing is accepted unless the flags forbid it. */
function checkSubject({ settings, say }: TorcxContext, { manifest, url, subject }: FetchedList): void {
  const other = otherSubject(manifest, subject);
  if (other !== undefined) throw torcxErrors.REPLAY({ url, reason: other });
  if (isBoundList(manifest)) return;
  const reason = 'it does not say for which board and OS version it is';
  if (settings.requiresBoundLists) throw torcxErrors.REPLAY({ url, reason });
  say('debug', `${url}: ${reason}`);
}

interface CheckedSignature {
  readonly signer: ManifestSigner;
  readonly signature: Uint8Array;
}

async function checkSignature(
  context: TorcxContext,
  signed: { readonly bucket: Bucket; readonly keyring: Keyring; readonly url: string; readonly content: Uint8Array },
): Promise<CheckedSignature> {
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
  return { signer, signature };
}

function rethrow(url: string, error: unknown): never {
  if (error instanceof Error && error.name === 'FirstlightError') throw error;
  throw torcxErrors.BUCKET({ url, reason: reasonOf(error) }, { cause: error });
}
