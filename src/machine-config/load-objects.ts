// Reads folders of YAML: MachineConfigs, pools, KubeletConfigs, the ControllerConfig, and adds what is generated from
// them: the built-in MachineConfigs, where there is a ControllerConfig, and those of KubeletConfigs. Every file is read
// before a mistake is reported.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { type ReadDocument, readDocuments } from '../source-text/documents.ts';
import { type JudgedMistake, mistakeText } from '../source-text/mistake.ts';
import { placeText } from '../source-text/place.ts';
import { baseMachineConfigs, clusterFactsOf } from './base-machine-configs.ts';
import { machineConfigErrors } from './errors.ts';
import { generateKubeletConfigs } from './generate-kubelet-configs.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool } from './machine-config.ts';
import { allPools } from './pools.ts';
import { type ReadObjects, readObjects } from './read-objects.ts';
import type { MachineTraits } from './unsupported.ts';

export interface LoadedObjects {
  /** In no particular order; rendering sorts them. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly pools: readonly MachineConfigPool[];
  /** From the ControllerConfig; empty without one. */
  readonly osImageURL: string;
  /** From the ControllerConfig: what machines can be asked for. */
  readonly machines: MachineTraits | undefined;
  readonly hasBuiltIns: boolean;
  /** Those of the MachineConfigs that were generated here. */
  readonly builtIns: readonly MachineConfig[];
  /** The pools that were read; `pools` also has the built-in ones. */
  readonly givenPools: readonly MachineConfigPool[];
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
  return objectsOf({ documents, mistakes }, generatedBy);
}

/** The ControllerConfig of a folder of manifests alone: nothing is generated from it, and no other file is parsed. */
export async function loadControllerConfig(host: Host, folder: string): Promise<ControllerConfig | undefined> {
  const texts = await Promise.all(
    (await yamlFiles(host, folder)).map(async (file) => ({ file, text: await host.files.readText(file) })),
  );
  const read = texts
    .filter(({ text }) => /^kind: ['"]?ControllerConfig/m.test(text))
    .map(({ file, text }) => readDocuments(file, text));
  const objects = readObjects(read.flatMap(({ documents }) => documents));
  const errors = [...read.flatMap(({ mistakes }) => mistakes), ...objects.mistakes].filter(
    ({ severity }) => severity === 'error',
  );
  if (errors.length > 0)
    throw machineConfigErrors.UNREADABLE({ mistakes: errors.map((mistake) => mistakeText(mistake)) });
  return objects.controllerConfig;
}

interface ReadFiles {
  readonly documents: readonly ReadDocument[];
  /** Of documents that could not be read. */
  readonly mistakes: readonly JudgedMistake[];
}

/** As `loadObjects`, from documents that were read already. */
export function objectsOf({ documents, mistakes: unreadable }: ReadFiles, generatedBy: string): LoadedObjects {
  const objects = readObjects(documents);
  const mistakes = [...unreadable, ...objects.mistakes];
  const given = new Set(objects.machineConfigs.map(({ metadata }) => metadata.name));
  const { controllerConfig } = objects;
  const generated =
    controllerConfig === undefined ? [] : baseMachineConfigs(clusterFactsOf(controllerConfig), generatedBy);
  const replaced = generated.filter(({ metadata }) => given.has(metadata.name)).map(({ metadata }) => metadata.name);
  const builtIns = generated.filter(({ metadata }) => !given.has(metadata.name));
  const sources = [...builtIns, ...objects.machineConfigs];
  const pools = allPools(objects.pools);
  const kubelets = kubeletConfigsOf(objects, { sources, pools, generatedBy });
  mistakes.push(...kubelets.mistakes);
  const errors = mistakes.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw machineConfigErrors.UNREADABLE({ mistakes: errors.map((mistake) => mistakeText(mistake)) });

  return {
    machineConfigs: [...sources, ...kubelets.machineConfigs],
    builtIns,
    pools,
    givenPools: objects.pools,
    osImageURL: controllerConfig?.spec.osImageURL ?? '',
    machines: controllerConfig?.spec.machines,
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

interface KubeletInputs {
  readonly sources: readonly MachineConfig[];
  readonly pools: readonly MachineConfigPool[];
  readonly generatedBy: string;
}

/** They are made from defaults that come with a ControllerConfig: without one there is nothing to make them from. */
function kubeletConfigsOf(
  { kubeletConfigs, controllerConfig, placeOf }: ReadObjects,
  { sources, pools, generatedBy }: KubeletInputs,
): { readonly machineConfigs: readonly MachineConfig[]; readonly mistakes: readonly JudgedMistake[] } {
  if (controllerConfig === undefined || kubeletConfigs.length === 0) return { machineConfigs: [], mistakes: [] };
  const sharesHost = controllerConfig.spec.machines?.sharesHost ?? false;
  const input = { kubeletConfigs, pools, machineConfigs: sources, generatedBy, sharesHost };
  const { machineConfigs, results } = generateKubeletConfigs(input);
  const mistakes = results.flatMap(({ kubeletConfig, problems }) => {
    const place = placeOf(kubeletConfig, 'KubeletConfig') ?? { file: kubeletConfig, line: 1, column: 1 };
    return problems.map((problem): JudgedMistake => {
      return { severity: 'error', ...place, message: `KubeletConfig ${kubeletConfig}: ${problem}` };
    });
  });
  return { machineConfigs, mistakes };
}

/** The YAML and JSON files of a folder, or the file itself. */
export async function yamlFiles(host: Host, folder: string): Promise<readonly string[]> {
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
