// The user's cache of built entries. An entry is a folder whose name is the digest of its inputs; one rename makes it
// visible as a whole, and it never changes afterwards. Every use checks the size and time of its largest files;
// `release verify` checks every digest.

import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isError } from '../../errors/firstlight-error.ts';
import type { Environment } from '../../host/environment.ts';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { randomText } from '../../host/random.ts';
import { digestOf, digestOfRecord } from '../../workflow/digest.ts';
import { releaseErrors } from '../errors.ts';
import { digestOfFile, digestOfTree, firstDifference, listTree, type TreeItem } from './tree.ts';

export const entryKinds = ['part', 'image', 'debian', 'root', 'seed', 'release'] as const;
export type CacheEntryKind = (typeof entryKinds)[number];

/** Names and values that determine the content; their digest is the key of the entry. */
export type EntryInputs = Readonly<Record<string, string>>;

export interface EntryId {
  readonly kind: CacheEntryKind;
  readonly name: string;
  readonly inputs: EntryInputs;
}

const witnessSchema = z.object({ path: z.string(), sizeBytes: z.number(), modifiedMs: z.number(), sha256: z.string() });
const manifestSchema = z.object({
  format: z.literal(1),
  kind: z.enum(entryKinds),
  name: z.string(),
  key: z.string(),
  inputs: z.record(z.string(), z.string()),
  /** Digest of the whole content, which is an input of later entries. */
  treeDigest: z.string(),
  /** Digest of listing.jsonl, the full listing beside this file. */
  listingDigest: z.string(),
  recordsOwners: z.boolean(),
  sizeBytes: z.number(),
  seconds: z.number(),
  witnesses: z.array(witnessSchema),
  /** Facts that its recipe states, such as package versions. */
  facts: z.record(z.string(), z.unknown()),
});
export type EntryManifest = z.infer<typeof manifestSchema>;

export interface CacheEntry {
  readonly manifest: EntryManifest;
  /** Absolute path of the folder with the content. */
  readonly content: string;
}

export type CacheLook =
  | { readonly status: 'present'; readonly entry: CacheEntry }
  | { readonly status: 'absent' }
  | { readonly status: 'damaged'; readonly reason: string };

export interface ReleaseCache {
  readonly folder: string;
  look(id: EntryId): Promise<CacheLook>;
  /** All files, folders and links, as recorded when the entry was made. */
  listing(entry: CacheEntry): Promise<readonly TreeItem[]>;
  /** Hashes everything; returns the first difference as text, undefined if there is none. */
  verify(entry: CacheEntry): Promise<string | undefined>;
  /** Marks an entry as damaged, so that `look` reports it and the next build replaces it. */
  markDamaged(entry: CacheEntry, reason: string): Promise<void>;
  /** Makes the entry in a temporary folder and moves it into place; replaces a damaged one. */
  fill(id: EntryId, make: (content: string) => Promise<EntryFacts>, options?: FillOptions): Promise<CacheEntry>;
  /** Removes temporary folders of interrupted runs; those of a living process stay. */
  sweep(): Promise<void>;
}

export type EntryFacts = Readonly<Record<string, unknown>>;
export interface FillOptions {
  readonly recordsOwners?: boolean;
}

const witnessesMax = 24;
const damagedFile = 'damaged';

export function cacheFolder(environment: Environment): string {
  const { FIRSTLIGHT_CACHE: own, XDG_CACHE_HOME: shared } = environment.variables;
  if (own !== undefined && own !== '') return resolve(environment.workingFolder, own);
  if (shared?.startsWith('/')) return join(shared, 'firstlight');
  return join(environment.homeFolder, '.cache', 'firstlight');
}

export function openCache(host: Host): ReleaseCache {
  const folder = cacheFolder(host.environment);
  const { files } = host;
  const place = (id: EntryId): string => join(folder, id.kind, id.name, digestOfRecord(id.inputs));
  return {
    folder,
    look: (id) => look(host, place(id)),
    listing: (entry) => listing(host, entry),
    verify: (entry) => verify(host, entry),
    markDamaged: (entry, reason) => files.write(join(entry.content, '..', damagedFile), reason),
    fill: async (id, make, options = {}) => {
      const temporary = join(folder, 'tmp', temporaryName(host, id));
      const startMs = host.clock.monotonicMs();
      try {
        await files.makeFolder(join(temporary, 'content'));
        const facts = await make(join(temporary, 'content'));
        const seconds = Math.round(host.clock.monotonicMs() - startMs) / 1000;
        await writeManifest(host, temporary, { id, facts, seconds, recordsOwners: options.recordsOwners === true });
        await files.remove(place(id));
        await files.makeFolder(join(folder, id.kind, id.name));
        await files.rename(temporary, place(id));
      } catch (error) {
        await files.remove(temporary);
        throw error;
      }
      const made = await look(host, place(id));
      if (made.status !== 'present') throw new Error(`${place(id)} is ${made.status} right after it was made`);
      return made.entry;
    },
    sweep: () => sweep(host, join(folder, 'tmp')),
  };
}

function temporaryName(host: Host, { kind, name }: EntryId): string {
  const unique = randomText(host.random, 'abcdefghijkmnpqrstuvwxyz', 10);
  return `${kind}-${name}-${unique}.${host.environment.pid}`;
}

/** The lock does not work across network namespaces, so folders of other living processes are kept. */
async function sweep(host: Host, folder: string): Promise<void> {
  for (const name of (await host.files.list(folder)) ?? []) {
    const pid = Number(name.split('.').at(-1));
    const isOurs = pid === host.environment.pid;
    if (isOurs || !host.processes.isAlive(pid)) await host.files.remove(join(folder, name));
  }
}

interface Made {
  readonly id: EntryId;
  readonly facts: EntryFacts;
  readonly seconds: number;
  readonly recordsOwners: boolean;
}

async function writeManifest(host: Host, folder: string, made: Made): Promise<void> {
  const { id, recordsOwners } = made;
  const items = await listTree(host.files, join(folder, 'content'), { recordsOwners });
  const listing = `${items.map((item) => JSON.stringify(item)).join('\n')}\n`;
  const manifest: EntryManifest = {
    format: 1,
    kind: id.kind,
    name: id.name,
    key: digestOfRecord(id.inputs),
    inputs: id.inputs,
    treeDigest: digestOfTree(items),
    listingDigest: digestOf(listing),
    recordsOwners,
    sizeBytes: items.reduce((sum, item) => sum + item.sizeBytes, 0),
    seconds: made.seconds,
    witnesses: witnesses(items),
    facts: made.facts,
  };
  await host.files.write(join(folder, 'listing.jsonl'), listing);
  await host.files.write(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The largest files: a full disk or a power failure most likely damages one of them. */
function witnesses(items: readonly TreeItem[]): EntryManifest['witnesses'] {
  return items
    .filter((item) => item.kind === 'file')
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.path < b.path ? -1 : 1))
    .slice(0, witnessesMax)
    .map(({ path, sizeBytes, modifiedMs, sha256 }) => ({ path, sizeBytes, modifiedMs, sha256: sha256 ?? '' }));
}

async function look(host: Host, folder: string): Promise<CacheLook> {
  const bytes = await host.files.readIfPresent(join(folder, 'manifest.json'));
  if (bytes === undefined) return { status: 'absent' };
  const parsed = manifestSchema.safeParse(jsonIfValid(bytes)).data;
  if (parsed === undefined) return { status: 'damaged', reason: 'manifest.json is not readable' };
  const markedReason = await host.files.readIfPresent(join(folder, damagedFile));
  if (markedReason !== undefined) return { status: 'damaged', reason: Buffer.from(markedReason).toString('utf8') };
  const content = join(folder, 'content');
  for (const witness of parsed.witnesses) {
    const reason = await damageOf(host, content, witness);
    if (reason !== undefined) return { status: 'damaged', reason };
  }
  return { status: 'present', entry: { manifest: parsed, content } };
}

/** What is wrong with one file. If only its time differs (a copied cache), it is hashed and not built again. */
async function damageOf(
  host: Host,
  content: string,
  witness: EntryManifest['witnesses'][number],
): Promise<string | undefined> {
  const path = join(content, witness.path);
  const facts = await host.files.facts(path);
  if (facts === undefined) return `${witness.path} is missing`;
  if (facts.sizeBytes !== witness.sizeBytes) {
    return `${witness.path} has ${facts.sizeBytes} bytes, recorded were ${witness.sizeBytes}`;
  }
  if (facts.modifiedAt.getTime() === witness.modifiedMs) return undefined;
  return (await digestOfFile(host.files, path)) === witness.sha256
    ? undefined
    : `${witness.path} has another content than recorded`;
}

async function listing(host: Host, { manifest, content }: CacheEntry): Promise<readonly TreeItem[]> {
  const bytes = await host.files.readIfPresent(join(content, '..', 'listing.jsonl'));
  if (bytes === undefined || digestOf(bytes) !== manifest.listingDigest) {
    const reason = bytes === undefined ? 'listing.jsonl is missing' : 'listing.jsonl was altered';
    throw releaseErrors.ENTRY_DAMAGED({ entry: `${manifest.kind} ${manifest.name}`, reason });
  }
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as TreeItem);
}

async function verify(host: Host, entry: CacheEntry): Promise<string | undefined> {
  const { recordsOwners, treeDigest } = entry.manifest;
  try {
    const found = await listTree(host.files, entry.content, { recordsOwners });
    const difference = firstDifference(await listing(host, entry), found);
    if (difference !== undefined) return difference;
    // The listing may have been altered together with a file; the release states this digest.
    return digestOfTree(found) === treeDigest ? undefined : 'its digest is not the recorded one';
  } catch (error) {
    if (isError(error, releaseErrors.ENTRY_DAMAGED)) return error.details.reason;
    throw error;
  }
}

/** Reads a JSON file that can be made again: undefined if it is missing, torn or of another shape. */
export async function readJsonFile<T>(files: Files, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const bytes = await files.readIfPresent(path);
  return bytes === undefined ? undefined : schema.safeParse(jsonIfValid(bytes)).data;
}
