// What the machine-config verbs read: the folders given by --from, or the manifests of the asset folder.
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { LoadedObjects } from '../machine-config/load-objects.ts';
import { loadObjects, poolNamed } from '../machine-config/load-objects.ts';
import type { RenderedPool } from '../machine-config/render.ts';
import { renderPool } from '../machine-config/render.ts';
import type { Invocation } from './command.ts';
import { firstlightVersion, programName } from './program.ts';

export const generatedBy = `${programName} ${firstlightVersion}`;

const options = z.looseObject({ from: z.array(z.string()).default([]) });

export async function loadInput(invocation: Invocation): Promise<LoadedObjects> {
  const { host, global } = invocation;
  const given = options.parse(invocation.options).from.map((folder) => resolve(host.environment.workingFolder, folder));
  if (given.length > 0) return loadObjects(host, { folders: given, generatedBy });
  const extra = join(global.dir, 'openshift');
  const hasExtra = (await host.files.facts(extra)) !== undefined;
  return loadObjects(host, { folders: [join(global.dir, 'manifests'), ...(hasExtra ? [extra] : [])], generatedBy });
}

export function renderNamed(objects: LoadedObjects, name: string): RenderedPool {
  const pool = poolNamed(name, objects.pools);
  return renderPool(pool, objects.machineConfigs, { osImageURL: objects.osImageURL, generatedBy });
}

/** Lines for the end of a text; nothing when there is nothing to say. */
export function notesText(objects: LoadedObjects, warnings: readonly string[] = []): string {
  const notes = [
    ...(objects.hasBuiltIns ? [] : ['no ControllerConfig here, so the built-in MachineConfigs are not part of this']),
    ...objects.warnings,
    ...warnings,
  ];
  return notes.length === 0 ? '' : `\n${notes.map((note) => `note: ${note}\n`).join('')}`;
}

/** Columns of equal width, two blanks apart, no blanks at the end of a line. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
