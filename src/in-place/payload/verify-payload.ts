// Whether a payload may be run on this machine: signed by the key of a certificate that its authority vouches for, made
// for this worker, and complete. A payload is run as root, so everything is checked before a byte is written.
import { verify, X509Certificate } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { unpackTar } from 'modern-tar';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { type Certificate, readBundle } from '../../pki/certificate.ts';
import { isSignedBy, validityAt } from '../../pki/chain.ts';
import { digestOf } from '../../workflow/digest.ts';
import {
  type PayloadIds,
  type PayloadManifest,
  payloadManifestSchema,
  payloadPaths,
  proofFiles,
} from './payload-manifest.ts';

export const archiveBytesMax = 64 * 1024 * 1024;
const unpackedBytesMax = 256 * 1024 * 1024;

export interface PayloadExpectation {
  /** The authorities of the payload service, as PEM. */
  readonly caPem: string;
  /** The name in the URL of the payload service: the certificate that signed must be its certificate. */
  readonly serverName: string;
  readonly ids: PayloadIds;
  readonly now: Date;
}

export type PayloadCheck = 'archive' | 'signature' | 'ids' | 'files';

export type PayloadVerdict =
  | {
      readonly status: 'verified';
      readonly manifest: PayloadManifest;
      /** Path in the archive → bytes, the proofs included. */
      readonly files: ReadonlyMap<string, Uint8Array>;
      /** SHA-256 of the manifest: it names this very payload. */
      readonly digest: string;
    }
  | { readonly status: 'refused'; readonly check: PayloadCheck; readonly reason: string };

/** What a payload says that it holds. For one that was just made here: nothing is verified. */
export async function listPayload(archive: Uint8Array): Promise<PayloadManifest> {
  return readManifest(proof(await unpack(archive), payloadPaths.manifest));
}

class Refusal extends Error {
  readonly check: PayloadCheck;

  constructor(check: PayloadCheck, reason: string) {
    super(reason);
    this.check = check;
  }
}

export async function verifyPayload(archive: Uint8Array, expected: PayloadExpectation): Promise<PayloadVerdict> {
  try {
    const files = await unpack(archive);
    const manifestBytes = proof(files, payloadPaths.manifest);
    checkSignature(files, manifestBytes, expected);
    const manifest = readManifest(manifestBytes);
    checkIds(manifest, expected.ids);
    checkFiles(files, manifest);
    return { status: 'verified', manifest, files, digest: digestOf(manifestBytes) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: 'refused', check: error.check, reason: error.message };
  }
}

async function unpack(archive: Uint8Array): Promise<ReadonlyMap<string, Uint8Array>> {
  if (archive.length > archiveBytesMax) throw new Refusal('archive', `it has more than ${archiveBytesMax} bytes`);
  const entries = await unpackTar(gunzipped(archive), { strict: true }).catch((error: unknown) => {
    throw new Refusal('archive', `it is no tar archive: ${error instanceof Error ? error.message : String(error)}`);
  });
  const files = new Map<string, Uint8Array>();
  for (const { header, data } of entries) {
    if (header.type === 'directory') continue;
    if (header.type !== 'file' || data === undefined) throw new Refusal('archive', `${header.name} is no plain file`);
    if (!isPlainPath(header.name)) throw new Refusal('archive', `${header.name} is no path inside of it`);
    if (files.has(header.name)) throw new Refusal('archive', `${header.name} is in it twice`);
    files.set(header.name, data);
  }
  return files;
}

function gunzipped(archive: Uint8Array): Uint8Array {
  try {
    return gunzipSync(archive, { maxOutputLength: unpackedBytesMax });
  } catch {
    throw new Refusal('archive', 'it is no gzip file, or too large');
  }
}

function isPlainPath(name: string): boolean {
  return name.split('/').every((word) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(word));
}

function proof(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = files.get(path);
  if (bytes === undefined) throw new Refusal('archive', `${path} is missing`);
  return bytes;
}

function checkSignature(
  files: ReadonlyMap<string, Uint8Array>,
  manifest: Uint8Array,
  { caPem, serverName, now }: PayloadExpectation,
): void {
  const leaf = trustedLeaf(text(proof(files, payloadPaths.certificate)), caPem, now);
  const certificate = new X509Certificate(leaf.pem);
  const name = ipaddr.isValid(serverName) ? certificate.checkIP(serverName) : certificate.checkHost(serverName);
  if (name === undefined) {
    throw new Refusal('signature', `the certificate of ${leaf.subjectText} is not for ${serverName}`);
  }
  const signature = Buffer.from(text(proof(files, payloadPaths.signature)), 'base64');
  if (!verify('sha256', manifest, certificate.publicKey, signature)) {
    throw new Refusal('signature', 'the signature is not that of its manifest');
  }
}

/** The first certificate, when each one is signed by the next and the last by an authority. */
function trustedLeaf(chainPem: string, caPem: string, now: Date): Certificate {
  const [leaf, ...between] = certificatesIn(chainPem);
  if (leaf === undefined) throw new Refusal('signature', `${payloadPaths.certificate} holds no certificate`);
  const authorities = readBundle(caPem);
  let current = leaf;
  for (const issuer of [...between, undefined]) {
    const { status } = validityAt(current, now);
    if (status !== 'valid') throw new Refusal('signature', `the certificate of ${current.subjectText} is ${status}`);
    const authority = authorities.find((candidate) => isSignedBy(current, candidate));
    if (authority !== undefined && validityAt(authority, now).status === 'valid') return leaf;
    if (issuer === undefined || !isSignedBy(current, issuer)) break;
    current = issuer;
  }
  throw new Refusal('signature', `no authority of the Secret vouches for the certificate of ${leaf.subjectText}`);
}

function certificatesIn(pem: string): readonly Certificate[] {
  try {
    return readBundle(pem);
  } catch {
    throw new Refusal('signature', `${payloadPaths.certificate} cannot be read`);
  }
}

function readManifest(bytes: Uint8Array): PayloadManifest {
  const read = payloadManifestSchema.safeParse(jsonIfValid(bytes));
  if (!read.success) throw new Refusal('files', `its manifest has another form than ours: ${read.error.message}`);
  return read.data;
}

function checkIds(manifest: PayloadManifest, expected: PayloadIds): void {
  for (const [name, key] of [
    ['worker', 'workerId'],
    ['cluster', 'clusterId'],
    ['region', 'region'],
  ] as const) {
    if (manifest[key] === expected[key]) continue;
    throw new Refusal('ids', `payload is for ${name} ${manifest[key]}, and this is ${name} ${expected[key]}`);
  }
}

function checkFiles(files: ReadonlyMap<string, Uint8Array>, manifest: PayloadManifest): void {
  for (const [path, bytes] of files) {
    if (proofFiles.includes(path)) continue;
    const listed = manifest.files[path];
    if (listed === undefined) throw new Refusal('files', `${path} is not in its manifest`);
    if (listed.sha256 !== digestOf(bytes)) throw new Refusal('files', `${path} is not as its manifest says`);
  }
  const missing = Object.keys(manifest.files).find((path) => !files.has(path));
  if (missing !== undefined) throw new Refusal('files', `${missing} is missing`);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
