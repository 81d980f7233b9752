// What the machine-config verbs read: the folders given by --from, or the manifests of the asset folder.
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { LoadedObjects } from '../../machine-config/load-objects.ts';
import { loadObjects, poolNamed } from '../../machine-config/load-objects.ts';
import type { RenderedPool } from '../../machine-config/render.ts';
import { renderPool } from '../../machine-config/render.ts';
import type { Invocation } from '../frame/verb.ts';
import { firstlightVersion, programName } from '../frame/program.ts';

export const generatedBy = `${programName} ${firstlightVersion}`;

const options = z.looseObject({ from: z.array(z.string()).default([]) });

/** Folders as given, read with their files called as a person in the working folder would call them. */
export function loadFolders({ host }: Invocation, folders: readonly string[]): Promise<LoadedObjects> {
  const { workingFolder } = host.environment;
  const shownName = (path: string): string => {
    const short = relative(workingFolder, path);
    return short.startsWith('..') ? path : short;
  };
  const absolute = folders.map((folder) => resolve(workingFolder, folder));
  return loadObjects(host, { folders: absolute, generatedBy, shownName });
}

export async function loadInput(invocation: Invocation): Promise<LoadedObjects> {
  const { host, global } = invocation;
  const given = options.parse(invocation.options).from;
  if (given.length > 0) return loadFolders(invocation, given);
  const extra = join(global.dir, 'openshift');
  const hasExtra = (await host.files.facts(extra)) !== undefined;
  return loadFolders(invocation, [join(global.dir, 'manifests'), ...(hasExtra ? [extra] : [])]);
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
