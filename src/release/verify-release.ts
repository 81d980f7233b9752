// Verifies the release by all digests, from the signature down: signature → manifest of the release image → its layers
// → release.json → parts and images → every file. All problems are collected before the error is thrown.
import { basename, join } from 'node:path';
import type { Host } from '../host/host.ts';
import { digestOf } from '../workflow/digest.ts';
import { type CurrentRelease, currentRelease, readLayerText } from './current.ts';
import { releaseErrors } from './errors.ts';
import { blobFolder } from './images/oci-image.ts';
import { releaseManifestSchema } from './release-manifest.ts';
import { manifestPath } from './release-recipe.ts';
import { type ReleaseSigner, signaturePath, verifySignature } from './release-signature.ts';

export interface VerifiedRelease {
  readonly digest: string;
  readonly version: string;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly signer?: ReleaseSigner;
}

export interface VerifyReleaseOptions {
  readonly keyPath?: string;
  readonly report: (progress: string) => void;
  readonly signal: AbortSignal;
}

export async function verifyRelease(host: Host, options: VerifyReleaseOptions): Promise<VerifiedRelease> {
  const current = await currentRelease(host);
  const signer = options.keyPath === undefined ? undefined : await checkSignature(host, current, options.keyPath);
  const problems: string[] = [];
  let sizeBytes = 0;
  for (const id of current.ids) {
    options.signal.throwIfAborted();
    options.report(`${id.kind} ${id.name}`);
    const seen = await current.cache.look(id);
    const reason = seen.status === 'present' ? await current.cache.verify(seen.entry) : describe(seen);
    if (reason !== undefined) problems.push(`${id.kind} ${id.name}: ${reason}`);
    if (reason !== undefined && seen.status === 'present') await current.cache.markDamaged(seen.entry, reason);
    if (seen.status === 'present') sizeBytes += seen.entry.manifest.sizeBytes;
  }
  // A damaged release entry cannot be used to check the others.
  const isWhole = !problems.some((problem) => problem.startsWith('release '));
  if (isWhole) problems.push(...(await checkBlobs(host, current)));
  problems.push(...(await checkParts(current)));
  if (problems.length > 0) throw releaseErrors.NOT_VERIFIED({ problems });
  return {
    digest: current.digest,
    version: current.manifest.version,
    entries: current.ids.length,
    sizeBytes,
    ...(signer === undefined ? {} : { signer }),
  };
}

function describe(
  seen: { readonly status: 'absent' } | { readonly status: 'damaged'; readonly reason: string },
): string {
  return seen.status === 'absent' ? 'it is missing' : seen.reason;
}

async function checkSignature(
  host: Host,
  { cache, digest, release }: CurrentRelease,
  keyPath: string,
): Promise<ReleaseSigner> {
  const signature = await host.files.readIfPresent(signaturePath(cache.folder, digest));
  if (signature === undefined) throw releaseErrors.SIGNATURE_MISSING({ digest: `sha256:${digest}` });
  const manifest = await host.files.read(join(release.content, blobFolder, digest));
  if (digestOf(manifest) !== digest) {
    throw releaseErrors.NOT_VERIFIED({ problems: [`the manifest of release sha256:${digest} has another digest`] });
  }
  return verifySignature(host, { manifest, digest: `sha256:${digest}`, signature, keyPath });
}

/** Every blob has the digest in its name, and every image of the manifest has its blob. */
async function checkBlobs(host: Host, current: CurrentRelease): Promise<readonly string[]> {
  const items = await current.cache.listing(current.release);
  const blobs = new Map(items.filter((i) => i.path.startsWith(blobFolder)).map((i) => [basename(i.path), i.sha256]));
  const problems = [...blobs].filter(([name, sha256]) => sha256 !== undefined && sha256 !== name);
  const named = [current.digest, ...current.manifest.images.map((image) => image.digest)];
  const missing = named.filter((digest) => !blobs.has(digest));
  // Commands read the copy in the cache; it must equal the one inside the signed image.
  const inside = releaseManifestSchema.parse(JSON.parse(await readLayerText(host.files, current, manifestPath)));
  const same = JSON.stringify(inside) === JSON.stringify(current.manifest);
  return [
    ...problems.map(([name]) => `blob ${name} has another digest`),
    ...missing.map((digest) => `image sha256:${digest} is not in the release`),
    ...(same ? [] : ['the release manifest beside the image differs from the one inside']),
  ];
}

/** The digests of the parts and of Debian in release.json are those in the cache. */
async function checkParts({ cache, ids, manifest }: CurrentRelease): Promise<readonly string[]> {
  const debian =
    manifest.debian === undefined ? [] : [{ kind: 'debian', name: 'base', digest: manifest.debian.digest }];
  const said = [...manifest.parts.map(({ name, digest }) => ({ kind: 'part', name, digest })), ...debian];
  const problems: string[] = [];
  for (const { kind, name, digest } of said) {
    const id = ids.find((candidate) => candidate.kind === kind && candidate.name === name);
    const seen = id === undefined ? undefined : await cache.look(id);
    const found = seen?.status === 'present' ? seen.entry.manifest.treeDigest : 'none';
    if (found !== digest) problems.push(`${kind} ${name} has digest ${found}, the release says ${digest}`);
  }
  return problems;
}
