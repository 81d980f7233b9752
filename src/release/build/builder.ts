// What every step of a release build uses: the host, the cache, the table of parts and the entries found so far. A
// recipe says how one cache entry is made from named inputs; the builder finds entries and makes the missing ones.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { Emit } from '../../workflow/events.ts';
import {
  type CacheEntry,
  type CacheEntryKind,
  type EntryFacts,
  type EntryId,
  type EntryInputs,
  openCache,
  type ReleaseCache,
} from '../cache/cache.ts';
import { chooseGo, findGo, type GoChoice } from '../parts/go.ts';
import { type PartsTable, readParts } from '../parts/parts.ts';

/** `any`: official binaries if they are pinned and can be reached, else `go build`. `build`: `go build` only. */
export type PartSource = 'any' | 'build';

export interface BuilderOptions {
  readonly host: Host;
  readonly emit: Emit;
  /** The checkout, with the sources of the bundle. */
  readonly projectFolder: string;
  /** The folder with the table of parts and their modules. Default: `upstream` of the checkout. */
  readonly upstreamFolder?: string;
  /** The version of Firstlight, which is also the version of the release. */
  readonly version: string;
  readonly source: PartSource;
}

export interface ReleaseBuilder extends BuilderOptions {
  readonly cache: ReleaseCache;
  readonly table: PartsTable;
  /** Found at the first use and remembered for the run. */
  readonly go: () => Promise<GoChoice>;
  /** Calls `make` once per name and run. */
  readonly once: <T>(name: string, make: () => Promise<T>) => Promise<T>;
  /** Entries found or made in this run, by name. One look at each is enough while we hold the lock of the cache. */
  readonly present: Map<string, CacheEntry>;
}

export interface MakeOptions {
  /** The folder for the content; empty at first. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly report: (progress: string) => void;
}

export interface BuildMethod {
  readonly label: string;
  readonly inputs: (builder: ReleaseBuilder) => Promise<EntryInputs>;
  /** False if the user asked for another method. */
  readonly isWanted?: (builder: ReleaseBuilder) => boolean;
  /** Why this method cannot be used here; called only if there is something to make. */
  readonly unavailable?: (builder: ReleaseBuilder) => Promise<string | undefined>;
  readonly make: (builder: ReleaseBuilder, work: MakeOptions) => Promise<EntryFacts>;
}

export interface Recipe {
  readonly kind: CacheEntryKind;
  readonly name: string;
  readonly why: string;
  readonly estimateSeconds: number;
  readonly recordsOwners?: boolean;
  /** Best first. An entry made by any of them can be used. */
  readonly methods: readonly BuildMethod[];
}

export async function openBuilder(options: BuilderOptions): Promise<ReleaseBuilder> {
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

export async function findEntry(builder: ReleaseBuilder, recipe: Recipe): Promise<FoundEntry> {
  const known = builder.present.get(recipeName(recipe));
  if (known !== undefined) return { status: 'present', entry: known };
  let damaged: FoundEntry | undefined;
  for (const method of wantedMethods(builder, recipe)) {
    const id = await entryId(builder, recipe, method);
    const seen = await builder.cache.look(id);
    if (seen.status === 'present') {
      builder.present.set(recipeName(recipe), seen.entry);
      return seen;
    }
    if (seen.status === 'damaged') damaged ??= { ...seen, id };
  }
  return damaged ?? { status: 'absent' };
}

/** The entry that an earlier stage made; a missing one means that the stages are in the wrong order. */
export async function needEntry(builder: ReleaseBuilder, recipe: Recipe): Promise<CacheEntry> {
  const found = await findEntry(builder, recipe);
  if (found.status !== 'present') throw new Error(`${recipeName(recipe)} is needed and ${found.status}`);
  return found.entry;
}

export async function makeEntry(
  builder: ReleaseBuilder,
  recipe: Recipe,
  work: Omit<MakeOptions, 'folder'>,
): Promise<CacheEntry> {
  const method = await availableMethod(builder, recipe);
  const id = await entryId(builder, recipe, method);
  const options = { recordsOwners: recipe.recordsOwners === true };
  const entry = await builder.cache.fill(id, (folder) => method.make(builder, { ...work, folder }), options);
  builder.present.set(recipeName(recipe), entry);
  return entry;
}

/** The first method that can be used here. The last one is not asked: it throws an error that names what it needs. */
async function availableMethod(builder: ReleaseBuilder, recipe: Recipe): Promise<BuildMethod> {
  const methods = wantedMethods(builder, recipe);
  for (const method of methods.slice(0, -1)) {
    const reason = await method.unavailable?.(builder);
    if (reason === undefined) return method;
    builder.emit({ kind: 'notice', level: 'info', text: `${recipeName(recipe)}: no ${method.label}: ${reason}` });
  }
  const last = methods.at(-1);
  if (last === undefined) throw new Error(`${recipeName(recipe)} has no way to be made`);
  return last;
}

function wantedMethods(builder: ReleaseBuilder, recipe: Recipe): readonly BuildMethod[] {
  return recipe.methods.filter((method) => method.isWanted?.(builder) ?? true);
}

export function recipeName(recipe: Recipe): string {
  return `${recipe.kind} ${recipe.name}`;
}

async function entryId(builder: ReleaseBuilder, recipe: Recipe, method: BuildMethod): Promise<EntryId> {
  return { kind: recipe.kind, name: recipe.name, inputs: await method.inputs(builder) };
}

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The processor's name in Go, Debian and OCI. */
export function goArchitecture({ host }: { readonly host: Host }): string {
  const { architecture } = host.environment;
  return goArchitectures[architecture] ?? architecture;
}
