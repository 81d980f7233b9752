// The package list of one OS version (`torcx-package-list-v0`): the versions of each add-on, their hashes and their
// locations. `defaultVersion` is not used: it only names the version that the vendor's alias points to. `board` and
// `osVersion` are ours: with them the signature also says what the list is for. The original ignores them.
import { posix } from 'node:path';
import { z } from 'zod';
import { nodePaths } from './context.ts';
import { parseImageHash } from './image-hash.ts';

const location = z.object({ path: z.string().optional(), url: z.string().optional() });
const version = z.object({ version: z.string(), hash: z.string(), locations: z.array(location).nullish() });
const schema = z.object({
  kind: z.literal('torcx-package-list-v0'),
  value: z.object({
    // Keys are in lower case here.
    board: z.string().optional(),
    osversion: z.string().optional(),
    packages: z.array(z.object({ name: z.string(), versions: z.array(version).nullish() })),
  }),
});

export type PackageManifest = z.infer<typeof schema>;

/** What a list is for. */
export interface ListSubject {
  readonly board: string;
  readonly osVersion: string;
}

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

/** True if the list itself says what it is for. */
export function isBoundList({ value }: PackageManifest): boolean {
  return value.board !== undefined && value.osversion !== undefined;
}

/** Why the list, by its own words, is for something else. Undefined: nothing in it says so. */
export function otherSubject({ value }: PackageManifest, { board, osVersion }: ListSubject): string | undefined {
  if (value.osversion !== undefined && value.osversion !== osVersion) return `it is for OS ${value.osversion}`;
  const boards = [value.board, ...value.packages.flatMap(boardsInUrls)].filter((found) => found !== undefined);
  const other = boards.find((found) => found !== board);
  return other === undefined ? undefined : `it is for ${other}`;
}

/** The original bucket has the archives of each board in a folder of its own: /pkgs/amd64-usr/docker/…. */
function boardsInUrls({ versions }: PackageManifest['value']['packages'][number]): readonly string[] {
  const urls = (versions ?? []).flatMap(({ locations }) => (locations ?? []).flatMap(({ url }) => url ?? []));
  return urls.flatMap((url) => url.split('/').filter((part) => /^[a-z0-9]+-usr$/.test(part)));
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
