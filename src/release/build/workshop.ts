// What every step of a release build works with: the machine, the cache, the table of parts, and what is known so far.
// A recipe says how one cache entry is made from named inputs; the workshop finds entries, and makes those missing.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { Emit } from '../../workflow/events.ts';
import {
  type Cache,
  type CacheEntry,
  type EntryFacts,
  type EntryId,
  type CacheEntryKind,
  type Inputs,
  openCache,
} from '../cache/cache.ts';
import { type GoChoice, chooseGo, findGo } from '../parts/go.ts';
import { type PartsTable, readParts } from '../parts/parts.ts';

/** Where parts may come from: official binaries where they can be reached, or `go build` alone. */
export const partSources = ['any', 'build'] as const;
export type PartSource = (typeof partSources)[number];

export interface WorkshopOptions {
  readonly host: Host;
  readonly emit: Emit;
  /** The checkout, with the sources of the bundle. */
  readonly projectFolder: string;
  /** The folder with the table of parts and their modules; `upstream` of the checkout unless named. */
  readonly upstreamFolder?: string;
  /** Of Firstlight itself, and so of the release. */
  readonly version: string;
  readonly source: PartSource;
}

export interface Workshop extends WorkshopOptions {
  readonly cache: Cache;
  readonly table: PartsTable;
  /** Asked when first needed, remembered for the run. */
  readonly go: () => Promise<GoChoice>;
  readonly once: <T>(name: string, make: () => Promise<T>) => Promise<T>;
  /** Entries found or made in this run, by name: one look at each is enough, for we hold the cache's lock. */
  readonly present: Map<string, CacheEntry>;
}

export interface Work {
  /** Where the content is made; empty at first. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly report: (progress: string) => void;
}

/** One way to make an entry. */
export interface Way {
  readonly label: string;
  readonly inputs: (shop: Workshop) => Promise<Inputs>;
  /** False where the person asked for another way. */
  readonly isWanted?: (shop: Workshop) => boolean;
  /** Why this way cannot be gone here; asked only when there is something to make. */
  readonly closed?: (shop: Workshop) => Promise<string | undefined>;
  readonly make: (shop: Workshop, work: Work) => Promise<EntryFacts>;
}

export interface Recipe {
  readonly kind: CacheEntryKind;
  readonly name: string;
  readonly why: string;
  readonly estimateSeconds: number;
  readonly recordsOwners?: boolean;
  /** Best first; any one of them in the cache will do. */
  readonly ways: readonly Way[];
}

export async function openWorkshop(options: WorkshopOptions): Promise<Workshop> {
  const table = await readParts(options.host, options.upstreamFolder ?? join(options.projectFolder, 'upstream'));
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const value = known.get(name) ?? make();
    known.set(name, value);
    return value as Promise<T>;
  };
  return {
    ...options,
    cache: openCache(options.host),
    table,
    once,
    present: new Map(),
    go: () => once('go', async () => chooseGo(await findGo(options.host), table.go)),
  };
}

export type FoundEntry =
  | { readonly status: 'present'; readonly entry: CacheEntry }
  | { readonly status: 'absent' }
  | { readonly status: 'damaged'; readonly reason: string; readonly id: EntryId };

export async function find(shop: Workshop, recipe: Recipe): Promise<FoundEntry> {
  const known = shop.present.get(recipeName(recipe));
  if (known !== undefined) return { status: 'present', entry: known };
  let damaged: FoundEntry | undefined;
  for (const way of wanted(shop, recipe)) {
    const id = await entryId(shop, recipe, way);
    const seen = await shop.cache.look(id);
    if (seen.status === 'present') {
      shop.present.set(recipeName(recipe), seen.entry);
      return seen;
    }
    if (seen.status === 'damaged') damaged ??= { ...seen, id };
  }
  return damaged ?? { status: 'absent' };
}

/** The entry of something that an earlier stage made; a hole here is a mistake in the order of stages. */
export async function need(shop: Workshop, recipe: Recipe): Promise<CacheEntry> {
  const found = await find(shop, recipe);
  if (found.status !== 'present') throw new Error(`${recipeName(recipe)} is needed and ${found.status}`);
  return found.entry;
}

export async function make(shop: Workshop, recipe: Recipe, work: Omit<Work, 'folder'>): Promise<CacheEntry> {
  const way = await openWay(shop, recipe);
  const id = await entryId(shop, recipe, way);
  const options = { recordsOwners: recipe.recordsOwners === true };
  const entry = await shop.cache.fill(id, (folder) => way.make(shop, { ...work, folder }), options);
  shop.present.set(recipeName(recipe), entry);
  return entry;
}

/** The first way that is open here; the last one is always open, and says itself what it lacks. */
async function openWay(shop: Workshop, recipe: Recipe): Promise<Way> {
  const ways = wanted(shop, recipe);
  for (const way of ways.slice(0, -1)) {
    const closed = await way.closed?.(shop);
    if (closed === undefined) return way;
    shop.emit({ kind: 'notice', level: 'info', text: `${recipeName(recipe)}: no ${way.label}: ${closed}` });
  }
  const last = ways.at(-1);
  if (last === undefined) throw new Error(`${recipeName(recipe)} has no way to be made`);
  return last;
}

function wanted(shop: Workshop, recipe: Recipe): readonly Way[] {
  return recipe.ways.filter((way) => way.isWanted?.(shop) ?? true);
}

export function recipeName(recipe: Recipe): string {
  return `${recipe.kind} ${recipe.name}`;
}

async function entryId(shop: Workshop, recipe: Recipe, way: Way): Promise<EntryId> {
  return { kind: recipe.kind, name: recipe.name, inputs: await way.inputs(shop) };
}
