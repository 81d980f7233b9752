// Reads folders of YAML: MachineConfigs, pools and the ControllerConfig, and adds the built-in MachineConfigs where
// there is a ControllerConfig. Every file is read before a mistake is reported.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { type ReadDocument, readDocuments } from '../source-text/documents.ts';
import { type JudgedMistake, mistakeText } from '../source-text/mistake.ts';
import { placeText } from '../source-text/place.ts';
import { baseMachineConfigs, clusterFactsOf } from './base-machine-configs.ts';
import { machineConfigErrors } from './errors.ts';
import type { MachineConfig, MachineConfigPool } from './machine-config.ts';
import { allPools } from './pools.ts';
import { readObjects } from './read-objects.ts';

export interface LoadedObjects {
  /** In no particular order; rendering sorts them. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly pools: readonly MachineConfigPool[];
  /** From the ControllerConfig; empty without one. */
  readonly osImageURL: string;
  readonly hasBuiltIns: boolean;
  /** Where a MachineConfig comes from: `manifests/motd.yaml:1:1`, or `built in`. */
  readonly originOf: (machineConfig: string) => string;
  readonly warnings: readonly string[];
}

export interface LoadOptions {
  /** Each a folder, of which the YAML and JSON files are read, or a single file. */
  readonly folders: readonly string[];
  readonly generatedBy: string;
  /** The name of a file in messages; default its path. */
  readonly shownName?: (path: string) => string;
}

/** Throws MACHINECONFIG_UNREADABLE with all mistakes of all files. */
export async function loadObjects(host: Host, options: LoadOptions): Promise<LoadedObjects> {
  const { folders, generatedBy, shownName = (path: string) => path } = options;
  const documents: ReadDocument[] = [];
  const mistakes: JudgedMistake[] = [];
  for (const folder of folders) {
    for (const file of await yamlFiles(host, folder)) {
      const read = readDocuments(shownName(file), await host.files.readText(file));
      documents.push(...read.documents);
      mistakes.push(...read.mistakes);
    }
  }
  const objects = readObjects(documents);
  mistakes.push(...objects.mistakes);
  const errors = mistakes.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw machineConfigErrors.UNREADABLE({ mistakes: errors.map((mistake) => mistakeText(mistake)) });

  const { controllerConfig } = objects;
  const given = new Set(objects.machineConfigs.map(({ metadata }) => metadata.name));
  const builtIns =
    controllerConfig === undefined ? [] : baseMachineConfigs(clusterFactsOf(controllerConfig), generatedBy);
  const replaced = builtIns.filter(({ metadata }) => given.has(metadata.name)).map(({ metadata }) => metadata.name);
  return {
    machineConfigs: [...builtIns.filter(({ metadata }) => !given.has(metadata.name)), ...objects.machineConfigs],
    pools: allPools(objects.pools),
    osImageURL: controllerConfig?.spec.osImageURL ?? '',
    hasBuiltIns: controllerConfig !== undefined,
    originOf: (name) => {
      const place = objects.placeOf(name);
      return place === undefined ? 'built in' : placeText(place);
    },
    warnings: [
      ...mistakes.map((mistake) => mistakeText(mistake)),
      ...replaced.map((name) => `the built-in MachineConfig ${name} is replaced by one of the same name`),
    ],
  };
}

async function yamlFiles(host: Host, folder: string): Promise<readonly string[]> {
  if ((await host.files.facts(folder))?.kind === 'file') return [folder];
  const names = await host.files.list(folder);
  if (names === undefined) throw machineConfigErrors.NO_FOLDER({ folder });
  return names.filter((name) => /\.(ya?ml|json)$/.test(name)).map((name) => join(folder, name));
}

export function poolNamed(name: string, pools: readonly MachineConfigPool[]): MachineConfigPool {
  const found = pools.find((pool) => pool.metadata.name === name);
  if (found !== undefined) return found;
  throw machineConfigErrors.POOL_UNKNOWN({ pool: name, pools: pools.map((pool) => pool.metadata.name) });
}
