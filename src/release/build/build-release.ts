// `release build` from top to bottom: parts, Debian, images, the release, the machine's root, the images' seed.
// Compilers have one lane, longest last, so that the two cores are never fought over; Debian, which mostly waits for
// the network and the disk, has the other. Everything after needs both.
import { join } from 'node:path';
import { isError } from '../../errors/firstlight-error.ts';
import { runStages } from '../../workflow/engine.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { type Journal, openJournal } from '../../workflow/journal.ts';
import type { FolderLock } from '../../host/files.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { writeCurrent } from '../current.ts';
import { containerdSeedRecipe } from '../machine/containerd-seed.ts';
import { debianRecipe } from '../machine/debian.ts';
import { releaseErrors } from '../errors.ts';
import { firstlightImage, nodeImage } from '../images/firstlight-image.ts';
import { imageRecipe, partImages } from '../images/images.ts';
import { machineRootRecipe } from '../machine/machine-root.ts';
import { firstlightPart, nodePart } from '../parts/own-parts.ts';
import { partRecipe } from '../parts/part-recipe.ts';
import { prefetchModules } from '../parts/prefetch.ts';
import { type BuildProgress, type Task, trackProgress } from './progress.ts';
import { type BuildContext, recipeStage } from './recipe-stage.ts';
import { releaseRecipe } from '../release-recipe.ts';
import { find, recipeName, need, openWorkshop, type Recipe, type Workshop, type WorkshopOptions } from './workshop.ts';
import { missingLine, waitingFor } from '../../contract/missing.ts';

export interface BuildOptions extends WorkshopOptions {
  readonly signal: AbortSignal;
  /** Only these parts, and nothing that is made of them. */
  readonly onlyParts?: readonly string[];
  /** False for a release of parts and images alone, which needs no root. */
  readonly withMachines: boolean;
}

export interface BuiltRelease {
  readonly cacheFolder: string;
  readonly entries: readonly CacheEntry[];
  readonly made: readonly string[];
}

/** What is built, in lanes: the first two at the same time, the last when both are through. */
export interface Plan {
  readonly compile: readonly Recipe[];
  readonly system: readonly Recipe[];
  readonly after: readonly Recipe[];
}

export async function buildRelease(options: BuildOptions): Promise<BuiltRelease> {
  const shop = await openWorkshop(options);
  const plan =
    options.onlyParts === undefined ? fullPlan(shop, options.withMachines) : partsPlan(shop, options.onlyParts);
  const { host, cache } = shop;
  await host.files.makeFolder(cache.folder);
  await using lock = await lockCache(shop, options.signal);
  await cache.sweep();
  await using journal = await cacheJournal(shop, join(lock.path, 'journal'));
  const before = journal.records.length;
  await refuseEarly(shop, plan);
  await runPlan(shop, plan, { journal, signal: options.signal });
  const recipes = [...plan.compile, ...plan.system, ...plan.after];
  const entries = await Promise.all(recipes.map((recipe) => need(shop, recipe)));
  if (options.onlyParts === undefined) {
    await writeCurrent(host, entries);
    if (journal.records.length > before) {
      // To the disk now: while the kernel writes a gigabyte later, the etcd of a cluster that is made next waits for seconds.
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

function partsPlan(shop: Workshop, names: readonly string[]): Plan {
  const { parts } = shop.table;
  for (const name of names) {
    const known = parts.map((part) => part.name);
    if (!known.includes(name)) throw releaseErrors.UNKNOWN_NAME({ what: 'part', name, known });
  }
  return { compile: parts.filter((part) => names.includes(part.name)).map(partRecipe), system: [], after: [] };
}

export function fullPlan(shop: Workshop, withMachines: boolean): Plan {
  const upstream = shop.table.parts.filter((part) => part.use === 'release');
  const recipes = new Map(upstream.map((part) => [part.name, partRecipe(part)]));
  const images = partImages.flatMap((image) => {
    const recipe = recipes.get(image.part);
    const version = upstream.find((part) => part.name === image.part)?.version ?? '';
    return recipe === undefined ? [] : [imageRecipe(image, recipe, version)];
  });
  const compile = [...recipes.values()];
  const parts = [...compile, nodePart, firstlightPart];
  if (!withMachines) {
    const release = releaseRecipe({ parts, images });
    return { compile, system: [nodePart, firstlightPart], after: [...images, release] };
  }
  const node = nodeImage(debianRecipe);
  const own = firstlightImage(node);
  const release = releaseRecipe({ parts, images: [...images, node, own], debian: debianRecipe });
  const root = machineRootRecipe({ debian: debianRecipe, parts, release });
  return {
    compile,
    system: [nodePart, firstlightPart, debianRecipe],
    after: [
      ...images,
      node,
      own,
      release,
      root,
      ...seeds(recipes.get('containerd'), [...images, node], [own, release]),
    ],
  };
}

/** Two steps, because what changes with every Firstlight is small, and an import of the rest takes its time. */
function seeds(containerd: Recipe | undefined, upstream: readonly Recipe[], own: readonly Recipe[]): readonly Recipe[] {
  if (containerd === undefined) return [];
  const base = containerdSeedRecipe({ name: 'containerd-base', containerd, images: upstream });
  return [base, containerdSeedRecipe({ name: 'containerd', containerd, base, images: own })];
}

const spaceToCompileBytes = 12e9;
const spaceToAssembleBytes = 4e9;

/** What would stop the build after minutes of compiling is said before it starts. */
async function refuseEarly(shop: Workshop, plan: Plan): Promise<void> {
  const isMissing = async (recipe: Recipe): Promise<boolean> => (await find(shop, recipe)).status !== 'present';
  const { environment, files } = shop.host;
  if (environment.uid !== 0 && plan.system.includes(debianRecipe) && (await isMissing(debianRecipe))) {
    throw releaseErrors.NEEDS_ROOT({ what: 'the machine root' });
  }
  const compiles = (await Promise.all(plan.compile.map(isMissing))).includes(true);
  const assembles = compiles || (await Promise.all(plan.system.map(isMissing))).includes(true);
  // Whoever asks for single parts knows what they are doing; the figures are those of a whole release.
  if (plan.after.length === 0 || !assembles) return;
  const neededBytes = compiles ? spaceToCompileBytes : spaceToAssembleBytes;
  const freeBytes = await files.freeBytes(shop.cache.folder);
  if (freeBytes < neededBytes) throw releaseErrors.DISK({ folder: shop.cache.folder, freeBytes, neededBytes });
}

async function runPlan(
  shop: Workshop,
  plan: Plan,
  { journal, signal }: { readonly journal: Journal; readonly signal: AbortSignal },
): Promise<void> {
  const tasks = (['compile', 'system', 'after'] as const).flatMap((lane) =>
    plan[lane].map((recipe): Task => ({ name: recipeName(recipe), estimateSeconds: recipe.estimateSeconds, lane })),
  );
  const progress = trackProgress(shop.host.clock, tasks);
  await noteKept(shop, [...plan.compile, ...plan.system], progress);
  // The first lane that fails stops the other, so that nothing runs on behind an error message.
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const run = (recipes: readonly Recipe[], laneSignal: AbortSignal): Promise<void> =>
    runStages<BuildContext>({
      stages: recipes.map(recipeStage),
      context: { shop, progress },
      journal,
      clock: shop.host.clock,
      emit: shop.emit,
      signal: laneSignal,
    });
  const stop = (error: unknown): never => {
    failed.abort(error);
    throw error;
  };
  const lanes = [run(plan.compile, both).catch(stop), run(plan.system, both).catch(stop)];
  const prefetched = prefetchModules(shop, plan.compile, both);
  const results = await Promise.allSettled(lanes);
  await prefetched;
  if (failed.signal.aborted) throw failed.signal.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  await run(plan.after, signal);
}

/** Known before anything starts, so that the first estimate counts only what is really to be done. */
async function noteKept(shop: Workshop, recipes: readonly Recipe[], progress: BuildProgress): Promise<void> {
  for (const recipe of recipes) {
    if ((await find(shop, recipe)).status === 'present') progress.kept(recipeName(recipe));
  }
}

/** The journal says what was made when; what is there is seen in the cache. A damaged one is put aside, not obeyed. */
async function cacheJournal({ host, emit }: Workshop, path: string): Promise<Journal> {
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

/** Two builds at once would do everything twice: the second waits, and then finds everything made. */
async function lockCache({ host, cache, emit }: Workshop, signal: AbortSignal): Promise<FolderLock> {
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
