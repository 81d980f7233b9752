// The package list of one OS version (`torcx-package-list-v0`): which add-on versions exist, their hashes and where
// they are. `defaultVersion` is deliberately not consulted: it only names what the vendor's alias points to.
import { posix } from 'node:path';
import { z } from 'zod';
import { parseImageHash } from './image-hash.ts';

export const vendorStore = '/usr/share/torcx/store';

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
  /** Set when that OS release ships the image in its vendor store. */
  readonly vendorPath?: string;
  /** Where it can be downloaded, in the order of the list. */
  readonly urls: readonly string[];
}

/** Throws a plain Error that says what is wrong; the caller knows the URL. */
export function parsePackageManifest(content: Uint8Array): PackageManifest {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  const result = schema.safeParse(JSON.parse(text, foldKey));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Error(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not understood'}`);
}

/** The wanted version of a package where it has a usable location; undefined counts as "not offered". */
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
  return posix.normalize(path) === path && posix.dirname(path) === vendorStore;
}

function isDownloadable(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Go matches JSON keys in any case, and publishers have used that. */
function foldKey(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toLowerCase(), inner]));
}
