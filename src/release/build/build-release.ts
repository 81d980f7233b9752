// `release build` from start to end: parts, Debian, images, the release, the root of the machines, the containerd seed.
// Compilers run one after another in one lane, so that they do not compete for the cores; Debian, which mostly waits
// for the network and the disk, runs in the other. Everything after that needs both lanes.
import { join } from 'node:path';
import { missingLine, waitingFor } from '../../contract/missing.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { FolderLock } from '../../host/files.ts';
import { runStages } from '../../workflow/engine.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { type Journal, openJournal } from '../../workflow/journal.ts';
import { waitUntil } from '../../workflow/wait.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { currentIds, writeCurrent } from '../current.ts';
import { releaseErrors } from '../errors.ts';
import {
  type ComponentImage,
  type ComponentSource,
  componentImageRecipe,
  componentsOf,
  readComponents,
} from '../images/component-image.ts';
import { firstlightImage, nodeImage } from '../images/firstlight-image.ts';
import { imageRecipe, type PartImage, partImages, programImages } from '../images/images.ts';
import { containerdSeedRecipe } from '../machine/containerd-seed.ts';
import { debianRecipe } from '../machine/debian.ts';
import { machineRootRecipe } from '../machine/machine-root.ts';
import { firstlightPart, nodePart } from '../parts/own-parts.ts';
import { partRecipe, prefetchModules } from '../parts/part-recipe.ts';
import { releaseRecipe } from '../release-recipe.ts';
import {
  type BuilderOptions,
  findEntry,
  needEntry,
  openBuilder,
  type Recipe,
  type ReleaseBuilder,
  recipeName,
} from './builder.ts';
import { type BuildProgress, type BuildTask, trackProgress } from './progress.ts';
import { type BuildContext, recipeStage } from './recipe-stage.ts';

export interface BuildOptions extends BuilderOptions {
  readonly signal: AbortSignal;
  /** Only these parts, and nothing that is made from them. */
  readonly onlyParts?: readonly string[];
  /** False for a release of only parts and images, which needs no root rights. */
  readonly withMachines: boolean;
  /** Images that render components in place of ours, or those of the release that was built last. Default: none. */
  readonly components?: readonly ComponentSource[] | 'kept';
}

export interface BuiltRelease {
  readonly cacheFolder: string;
  readonly entries: readonly CacheEntry[];
  readonly made: readonly string[];
}

/** What is built, in lanes: `compile` and `system` at the same time, then `after`. */
export interface BuildPlan {
  readonly compile: readonly Recipe[];
  readonly system: readonly Recipe[];
  readonly after: readonly Recipe[];
}

export async function buildRelease(options: BuildOptions): Promise<BuiltRelease> {
  const { host, components = [] } = options;
  if (components === 'kept') return buildWith(options, componentsOf(await currentIds(host)));
  if (components.length === 0) return buildWith(options, []);
  const scratch = await host.files.makeTemporaryFolder('firstlight-components-');
  try {
    return await buildWith(options, await readComponents(host, components, scratch));
  } finally {
    await host.files.remove(scratch);
  }
}

async function buildWith(options: BuildOptions, components: readonly ComponentImage[]): Promise<BuiltRelease> {
  const builder = await openBuilder(options);
  const plan =
    options.onlyParts === undefined
      ? fullPlan(builder, options.withMachines, components)
      : partsPlan(builder, options.onlyParts);
  const { host, cache } = builder;
  await host.files.makeFolder(cache.folder);
  await using lock = await lockCache(builder, options.signal);
  await cache.sweep();
  await using journal = await cacheJournal(builder, join(lock.path, 'journal'));
  const before = journal.records.length;
  await refuseEarly(builder, plan);
  await runPlan(builder, plan, { journal, signal: options.signal });
  const recipes = [...plan.compile, ...plan.system, ...plan.after];
  const entries = await Promise.all(recipes.map((recipe) => needEntry(builder, recipe)));
  if (options.onlyParts === undefined) {
    await writeCurrent(host, entries);
    if (journal.records.length > before) {
      // Sync now: if the kernel writes this gigabyte later, the etcd of the next cluster waits for seconds.
      const { signal } = options;
      await host.processes.run('sync', ['--file-system', cache.folder], { timeoutMs: 120_000, signal });
      const { prune } = await import('../cache/prune.ts');
      await prune(
        host,
        cache,
        entries.map(({ manifest }) => manifest),
      );
    }
  }
  const made = journal.records.slice(before).map((record) => String(record['stage']));
  return { cacheFolder: cache.folder, entries, made };
}

function partsPlan(builder: ReleaseBuilder, names: readonly string[]): BuildPlan {
  const { parts } = builder.table;
  for (const name of names) {
    const known = parts.map((part) => part.name);
    if (!known.includes(name)) throw releaseErrors.UNKNOWN_NAME({ what: 'part', name, known });
  }
  return { compile: parts.filter((part) => names.includes(part.name)).map(partRecipe), system: [], after: [] };
}

export function fullPlan(
  builder: ReleaseBuilder,
  withMachines: boolean,
  components: readonly ComponentImage[] = [],
): BuildPlan {
  const upstream = builder.table.parts.filter((part) => part.use === 'release');
  const recipes = new Map(upstream.map((part) => [part.name, partRecipe(part)]));
  const imagesOf = (table: readonly PartImage[]): readonly Recipe[] =>
    table.flatMap((image) => {
      const recipe = recipes.get(image.part);
      const version = upstream.find((part) => part.name === image.part)?.version ?? '';
      return recipe === undefined ? [] : [imageRecipe(image, recipe, version)];
    });
  const images = imagesOf(partImages);
  const rendering = components.map(componentImageRecipe);
  const compile = [...recipes.values()];
  const parts = [...compile, nodePart, firstlightPart];
  if (!withMachines) {
    const release = releaseRecipe({ parts, images: [...images, ...rendering] });
    return { compile, system: [nodePart, firstlightPart], after: [...images, ...rendering, release] };
  }
  const node = nodeImage(debianRecipe);
  const own = firstlightImage(node);
  const carried = imagesOf(programImages);
  const all = [...images, ...carried, ...rendering, node, own];
  const release = releaseRecipe({ parts, images: all, debian: debianRecipe });
  const root = machineRootRecipe({ debian: debianRecipe, parts, release });
  return {
    compile,
    system: [nodePart, firstlightPart, debianRecipe],
    after: [
      ...all,
      release,
      root,
      ...seeds(recipes.get('containerd'), [...images, node], [own, ...rendering, release]),
    ],
  };
}

/** Two seeds: upstream images, whose import takes long, and our own, which are small and change often. */
function seeds(containerd: Recipe | undefined, upstream: readonly Recipe[], own: readonly Recipe[]): readonly Recipe[] {
  if (containerd === undefined) return [];
  const base = containerdSeedRecipe({ name: 'containerd-base', containerd, images: upstream });
  return [base, containerdSeedRecipe({ name: 'containerd', containerd, base, images: own })];
}

const spaceToCompileBytes = 18e9;
const spaceToAssembleBytes = 4e9;

/** Checks before the build what would stop it after minutes of compiling. */
async function refuseEarly(builder: ReleaseBuilder, plan: BuildPlan): Promise<void> {
  const isMissing = async (recipe: Recipe): Promise<boolean> => (await findEntry(builder, recipe)).status !== 'present';
  const { environment, files } = builder.host;
  if (environment.uid !== 0 && plan.system.includes(debianRecipe) && (await isMissing(debianRecipe))) {
    throw releaseErrors.NEEDS_ROOT({ what: 'the machine root' });
  }
  const compiles = (await Promise.all(plan.compile.map(isMissing))).includes(true);
  const assembles = compiles || (await Promise.all(plan.system.map(isMissing))).includes(true);
  // The figures are for a whole release, so they do not apply to single parts.
  if (plan.after.length === 0 || !assembles) return;
  const neededBytes = compiles ? spaceToCompileBytes : spaceToAssembleBytes;
  const freeBytes = await files.freeBytes(builder.cache.folder);
  if (freeBytes < neededBytes) throw releaseErrors.DISK({ folder: builder.cache.folder, freeBytes, neededBytes });
}

async function runPlan(
  builder: ReleaseBuilder,
  plan: BuildPlan,
  { journal, signal }: { readonly journal: Journal; readonly signal: AbortSignal },
): Promise<void> {
  const tasks = (['compile', 'system', 'after'] as const).flatMap((lane) =>
    plan[lane].map(
      (recipe): BuildTask => ({ name: recipeName(recipe), estimateSeconds: recipe.estimateSeconds, lane }),
    ),
  );
  const progress = trackProgress(builder.host.clock, tasks);
  await noteKept(builder, [...plan.compile, ...plan.system], progress);
  // The first lane that fails stops the other one, so that nothing runs after the error message.
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const run = (recipes: readonly Recipe[], laneSignal: AbortSignal): Promise<void> =>
    runStages<BuildContext>({
      stages: recipes.map(recipeStage),
      context: { builder, progress },
      journal,
      clock: builder.host.clock,
      emit: builder.emit,
      signal: laneSignal,
    });
  const stop = (error: unknown): never => {
    failed.abort(error);
    throw error;
  };
  const lanes = [run(plan.compile, both).catch(stop), run(plan.system, both).catch(stop)];
  const prefetched = prefetchModules(builder, plan.compile, both);
  const results = await Promise.allSettled(lanes);
  await prefetched;
  if (failed.signal.aborted) throw failed.signal.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  await run(plan.after, signal);
}

/** Marks existing entries before the start, so that the first estimate counts only the work to do. */
async function noteKept(builder: ReleaseBuilder, recipes: readonly Recipe[], progress: BuildProgress): Promise<void> {
  for (const recipe of recipes) {
    if ((await findEntry(builder, recipe)).status === 'present') progress.kept(recipeName(recipe));
  }
}

/** The journal only records what was made; the cache says what exists. So a damaged journal is put aside. */
async function cacheJournal({ host, emit }: ReleaseBuilder, path: string): Promise<Journal> {
  try {
    return await openJournal(host.files, path);
  } catch (error) {
    if (!isError(error, workflowErrors.JOURNAL_CORRUPT)) throw error;
    emit({ kind: 'notice', level: 'warn', text: `${error.message}; kept as ${path}.damaged, a new one is begun` });
    await host.files.rename(path, `${path}.damaged`);
    return openJournal(host.files, path);
  }
}

const lockDeadlineMs = 30 * 60_000;

/** A second build waits for the first one and then finds all entries in the cache. */
async function lockCache({ host, cache, emit }: ReleaseBuilder, signal: AbortSignal): Promise<FolderLock> {
  return waitUntil<FolderLock>({
    clock: host.clock,
    what: `the turn to build in ${cache.folder}`,
    deadlineMs: lockDeadlineMs,
    everyMs: 500,
    signal,
    onMissing: (missing) => emit({ kind: 'notice', level: 'info', text: `waiting for ${missingLine(missing)}` }),
    probe: async () => {
      const lock = await host.files.lock(cache.folder, 'firstlight release build');
      if (!('heldBy' in lock)) return { status: 'ready', value: lock };
      const { pid, purpose = 'another firstlight' } = lock.heldBy;
      return { status: 'waiting', missing: [waitingFor(purpose, pid === undefined ? '' : `(process ${pid})`)] };
    },
  });
}
