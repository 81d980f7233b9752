// `firstlight machine-config render`
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { poolNamed } from '../../machine-config/load-objects.ts';
import { renderedFiles } from '../../machine-config/rendered-files.ts';
import type { CommandBody } from '../frame/verb.ts';
import { loadInput, notesText, renderNamed, sizeText, table } from './input.ts';

const options = z.looseObject({ to: z.string().optional() });

export const machineConfigRender: CommandBody = async (invocation) => {
  const { host, args } = invocation;
  const { to } = options.parse(invocation.options);
  const objects = await loadInput(invocation);
  const names = args.length > 0 ? args : objects.pools.map((pool) => pool.metadata.name);
  const rendered = names.map((name) => renderNamed(objects, name));

  const folder = to === undefined ? undefined : resolve(host.environment.workingFolder, to);
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
  return { data, text: `${table(rows)}${files}${notesText(objects, warnings)}` };
};
