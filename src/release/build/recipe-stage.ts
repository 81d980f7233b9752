// A recipe as a stage of the workflow engine: `observe` looks into the cache, `run` makes the entry.
import { working } from '../../contract/stage-progress.ts';
import type { Stage } from '../../workflow/stage.ts';
import { findEntry, makeEntry, type Recipe, type ReleaseBuilder, recipeName } from './builder.ts';
import type { BuildProgress } from './progress.ts';

export interface BuildContext {
  readonly builder: ReleaseBuilder;
  readonly progress: BuildProgress;
}

export function recipeStage(recipe: Recipe): Stage<BuildContext> {
  const name = recipeName(recipe);
  return {
    name,
    why: recipe.why,
    observe: async ({ builder, progress }) => {
      const found = await findEntry(builder, recipe);
      if (found.status === 'present') {
        progress.kept(name);
        return { status: 'done' };
      }
      if (found.status === 'absent') return { status: 'needed', because: 'it is not in the cache' };
      const because = `the cache entry is damaged: ${found.reason}`;
      builder.emit({ kind: 'notice', level: 'warn', text: `${name}: ${because}; building it again` });
      return { status: 'needed', because };
    },
    run: async ({ builder, progress }, { signal, report }) => {
      const told = (text: string): void => report(working(`${text}${progress.suffix()}`, text));
      progress.started(name);
      told(progress.opening(name));
      const { manifest } = await makeEntry(builder, recipe, { signal, report: told });
      progress.ended(name);
      const note = `${megabytes(manifest.sizeBytes)} in ${manifest.seconds.toFixed(1)} s`;
      report(working(note));
      return { inputs: { [name]: manifest.key }, outputs: { [name]: manifest.treeDigest }, note };
    },
  };
}

export function megabytes(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
