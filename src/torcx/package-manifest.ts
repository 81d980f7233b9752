// The package list of one OS version (`torcx-package-list-v0`): the versions of each add-on, their hashes and their
// locations. `defaultVersion` is not used: it only names the version that the vendor's alias points to.
import { posix } from 'node:path';
import { z } from 'zod';
import { nodePaths } from './context.ts';
import { parseImageHash } from './image-hash.ts';

const location = z.object({ path: z.string().optional(), url: z.string().optional() });
const version = z.object({ version: z.string(), hash: z.string(), locations: z.array(location).nullish() });
const schema = z.object({
  kind: z.literal('torcx-package-list-v0'),
  value: z.object({ packages: z.array(z.object({ name: z.string(), versions: z.array(version).nullish() })) }),
});

export type PackageManifest = z.infer<typeof schema>;

export interface PackageVersion {
  readonly name: string;
  readonly reference: string;
  readonly hash: string;
  /** Path in the vendor store, if that OS release ships the image. */
  readonly vendorPath?: string;
  /** Download locations in the order of the list. */
  readonly urls: readonly string[];
}

/** Throws a plain Error with the reason; the caller adds the URL. */
export function parsePackageManifest(content: Uint8Array): PackageManifest {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  const result = schema.safeParse(JSON.parse(text, foldKey));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Error(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not understood'}`);
}

/** The wanted version of a package; undefined if it is not listed or has no usable location. */
export function findVersion(manifest: PackageManifest, name: string, reference: string): PackageVersion | undefined {
  const versions = manifest.value.packages.find((candidate) => candidate.name === name)?.versions ?? [];
  for (const candidate of versions) {
    if (candidate.version !== reference) continue;
    const locations = candidate.locations ?? [];
    const vendorPath = locations.map(({ path }) => path).find((path) => path !== undefined && isInVendorStore(path));
    const urls = locations.flatMap(({ url }) => (url !== undefined && isDownloadable(url) ? [url] : []));
    if (vendorPath === undefined && urls.length === 0) continue;
    parseImageHash(candidate.hash);
    return { name, reference, hash: candidate.hash, urls, ...(vendorPath === undefined ? {} : { vendorPath }) };
  }
  return undefined;
}

export function offeredVersions(manifest: PackageManifest, name: string): readonly string[] {
  const versions = manifest.value.packages.find((candidate) => candidate.name === name)?.versions ?? [];
  return versions.map((candidate) => candidate.version);
}

function isInVendorStore(path: string): boolean {
  return posix.normalize(path) === path && posix.dirname(path) === nodePaths.vendorStore;
}

function isDownloadable(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Go ignores the case of JSON keys, and some publishers rely on that. */
function foldKey(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toLowerCase(), inner]));
}
