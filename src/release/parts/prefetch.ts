// Fetches the modules of parts that are still to be compiled while an earlier one compiles: the network is idle then.
// Only a head start: whatever fails here is said by the build of the part itself.
import { join } from 'node:path';
import { goEnvironment } from './part-recipe.ts';
import { find, type Recipe, type Workshop } from '../build/workshop.ts';

export async function prefetchModules(shop: Workshop, recipes: readonly Recipe[], signal: AbortSignal): Promise<void> {
  const go = await shop.go();
  if (go.status !== 'ready') return;
  for (const recipe of recipes.slice(1)) {
    const part = shop.table.parts.find(({ name }) => name === recipe.name);
    if (part === undefined || signal.aborted || (await find(shop, recipe)).status === 'present') continue;
    const packages = part.binaries.map((binary) => binary.package);
    const args = ['list', '-deps', ...(part.tags.length === 0 ? [] : ['-tags', part.tags.join(',')]), ...packages];
    const options = {
      cwd: join(shop.table.folder, part.module),
      env: goEnvironment(shop, go.toolchain, part.cgo),
      signal,
      keepBytes: 1,
    };
    await shop.host.processes.run(go.program, args, options).catch(() => undefined);
  }
}
