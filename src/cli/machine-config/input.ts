// What the machine-config verbs read: the folders given by --from, or the manifests of the asset folder.
import { join, relative, resolve } from 'node:path';
import type { LoadedObjects } from '../../machine-config/load-objects.ts';
import { loadObjects, poolNamed } from '../../machine-config/load-objects.ts';
import type { RenderedPool } from '../../machine-config/render.ts';
import { renderPool } from '../../machine-config/render.ts';
import { generatedBy } from '../frame/program.ts';
import type { Invocation } from '../frame/verb.ts';

/** The folders as given; their files have the names that the user would type in the working folder. */
export function loadFolders({ host }: Pick<Invocation, 'host'>, folders: readonly string[]): Promise<LoadedObjects> {
  const { workingFolder } = host.environment;
  const shownName = (path: string): string => {
    const short = relative(workingFolder, path);
    return short.startsWith('..') ? path : short;
  };
  const absolute = folders.map((folder) => resolve(workingFolder, folder));
  return loadObjects(host, { folders: absolute, generatedBy, shownName });
}

export async function loadInput(
  invocation: Invocation<unknown, { readonly from: readonly string[] }>,
): Promise<LoadedObjects> {
  const given = invocation.options.from;
  return loadFolders(invocation, given.length > 0 ? given : [join(invocation.global.dir, 'manifests')]);
}

export function renderNamed(objects: LoadedObjects, name: string): RenderedPool {
  const pool = poolNamed(name, objects.pools);
  const { osImageURL, machines } = objects;
  return renderPool(pool, objects.machineConfigs, { osImageURL, machines, generatedBy });
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

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
