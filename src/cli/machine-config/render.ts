// `firstlight machine-config render`
import { dirname, join } from 'node:path';
import { alignColumns } from '../frame/columns.ts';
import { option, optionalArgumentList, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { fromOption, readsFolders } from './options.ts';

export const machineConfigRenderVerb = defineVerb({
  description: readsFolders,
  args: { pools: optionalArgumentList('only these; all without any') },
  options: { from: fromOption, to: option('--to <folder>', 'write what the config server serves from', text) },
  examples: ['firstlight machine-config render', 'firstlight machine-config render worker --to rendered'],
  run: async (invocation) => {
    const { poolNamed } = await import('../../machine-config/load-objects.ts');
    const { renderedFiles } = await import('../../machine-config/rendered-files.ts');
    const { loadInput, notesText, renderNamed, sizeText } = await import('./input.ts');
    const { host, args, options } = invocation;
    const objects = await loadInput(invocation);
    const names = args.pools.length > 0 ? args.pools : objects.pools.map((pool) => pool.metadata.name);
    const rendered = names.map((name) => renderNamed(objects, name));

    const folder = options.to === undefined ? undefined : typedPath(host, options.to);
    const written: string[] = [];
    for (const one of folder === undefined ? [] : rendered) {
      for (const file of renderedFiles(poolNamed(one.pool, objects.pools), one)) {
        const path = join(folder ?? '', file.path);
        await host.files.makeFolder(dirname(path));
        // Rendered configurations can hold secrets (pull secrets, keys).
        await host.files.write(path, file.text, { mode: 0o600 });
        written.push(path);
      }
    }

    const data = rendered.map(({ pool, name, sizeBytes, sources, machineConfig, warnings }) => ({
      pool,
      name,
      sizeBytes,
      sources: sources.map(({ metadata }) => metadata.name),
      warnings,
      machineConfig,
    }));
    const rows = rendered.map(({ pool, name, sizeBytes, sources }) => [
      pool,
      name,
      `${sources.length} MachineConfigs`,
      sizeText(sizeBytes),
    ]);
    const files = written.length === 0 ? '' : `\n${written.length} files written to ${folder}\n`;
    const warnings = rendered.flatMap((one) => one.warnings.map((warning) => `${one.pool}: ${warning}`));
    return { data, text: `${alignColumns(rows, '  ')}${files}${notesText(objects, warnings)}` };
  },
});
