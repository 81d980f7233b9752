// The user's cache: what was made from which inputs, by digest. An entry is a folder named by its key; it appears
// whole, by one rename, and never changes afterwards. Two looks at an entry: a quick one (size and time of its
// largest files) on every use, a thorough one (every digest) by `release verify`.
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../host/environment.ts';
import type { Host } from '../host/host.ts';
import { randomText } from '../host/random.ts';
import { type Digest, digestOf, digestOfRecord } from '../workflow/digest.ts';
import { digestOfFile, digestOfTree, firstDifference, listTree, type TreeItem } from './tree.ts';

export const entryKinds = ['part', 'image', 'debian', 'root', 'seed', 'release'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Names and values that decide the content; their digest is the entry's key. */
export type Inputs = Readonly<Record<string, string>>;

export interface EntryId {
  readonly kind: EntryKind;
  readonly name: string;
  readonly inputs: Inputs;
}

const witnessSchema = z.object({ path: z.string(), sizeBytes: z.number(), modifiedMs: z.number(), sha256: z.string() });
const manifestSchema = z.object({
  format: z.literal(1),
  kind: z.enum(entryKinds),
  name: z.string(),
  key: z.string(),
  inputs: z.record(z.string(), z.string()),
  /** Digest over the whole content; what later entries take as their input. */
  treeDigest: z.string(),
  /** Digest of the file with the full listing beside this one. */
  listingDigest: z.string(),
  recordsOwners: z.boolean(),
  sizeBytes: z.number(),
  seconds: z.number(),
  witnesses: z.array(witnessSchema),
  /** What its maker wants to be known about it, such as package versions. */
  facts: z.record(z.string(), z.unknown()),
});
export type EntryManifest = z.infer<typeof manifestSchema>;

export interface Entry {
  readonly manifest: EntryManifest;
  /** The folder with the content itself, absolute. */
  readonly content: string;
}

export type Look =
  | { readonly status: 'present'; readonly entry: Entry }
  | { readonly status: 'absent' }
  | { readonly status: 'damaged'; readonly reason: string };

export interface Cache {
  readonly folder: string;
  look(id: EntryId): Promise<Look>;
  /** Hashes everything; the first difference in words, undefined when all is as recorded. */
  verify(entry: Entry): Promise<string | undefined>;
  /** Makes the entry in a temporary folder and puts it in place whole; replaces a damaged one. */
  fill(id: EntryId, make: (content: string) => Promise<EntryFacts>, options?: FillOptions): Promise<Entry>;
  /** Removes what interrupted runs left. Only under the cache's lock. */
  sweep(): Promise<void>;
}

export type EntryFacts = Readonly<Record<string, unknown>>;
export interface FillOptions {
  readonly recordsOwners?: boolean;
}

const witnessesMax = 48;

export function cacheFolder(environment: Environment): string {
  const { FIRSTLIGHT_CACHE: own, XDG_CACHE_HOME: shared } = environment.variables;
  if (own !== undefined && own !== '') return join(environment.workingFolder, own.startsWith('/') ? '/' : '', own);
  if (shared?.startsWith('/')) return join(shared, 'firstlight');
  return join(environment.homeFolder, '.cache', 'firstlight');
}
