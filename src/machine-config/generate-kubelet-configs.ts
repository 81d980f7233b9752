// From KubeletConfigs to the MachineConfigs `99-<pool>-generated-kubelet[-N]`: the kubelet's configuration of the pool
// with the user's fields in it. Pure: the pool controller keeps the result in the API, bootkube renders with it. Each
// MachineConfig keeps its name as long as its KubeletConfig exists, whatever happens to the others.
import { parse as parseYaml } from 'yaml';
import { kubeletConfiguration } from '../contract/machine-paths.ts';
import type { FileNode } from '../ignition/config.ts';
import { dataUrl, decodeDataUrl } from '../ignition/data-url.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import type { KubeletConfig } from './kubelet-config.ts';
import { kubeletFieldProblems } from './kubelet-fields.ts';
import { selects } from './label-selector.ts';
import type { MachineConfig, MachineConfigPool } from './machine-config.ts';
import { configSpec, generatedAnnotation, roleLabel } from './machine-config.ts';

/** On a generated MachineConfig: the name of the KubeletConfig that it was made from. */
export const kubeletConfigAnnotation = 'firstlight.io/generated-from-kubelet-config';

export interface KubeletConfigInput {
  readonly kubeletConfigs: readonly KubeletConfig[];
  readonly pools: readonly MachineConfigPool[];
  /** With `01-<role>-kubelet`, which have the defaults, and with what was generated before. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly generatedBy: string;
  /** Machines on the disk of their host: some limits are then not the user's to set. */
  readonly sharesHost: boolean;
}

export interface GeneratedKubeletConfigs {
  /** All that there should be; one that has `kubeletConfigAnnotation` and is not among them is to be deleted. */
  readonly machineConfigs: readonly MachineConfig[];
  /** One per KubeletConfig, for its condition `Success` or `Failure`. */
  readonly results: readonly KubeletConfigResult[];
}

export interface KubeletConfigResult {
  readonly kubeletConfig: string;
  /** The names of the pools that it selects. */
  readonly pools: readonly string[];
  /** The names of the MachineConfigs made from it, one per pool. */
  readonly machineConfigs: readonly string[];
  /** Why it cannot be used; empty when it can. What was made from it before stays. */
  readonly problems: readonly string[];
}

export function generateKubeletConfigs(input: KubeletConfigInput): GeneratedKubeletConfigs {
  const names = generatedNames(input);
  const made = byName(input.kubeletConfigs).map((config) => {
    const pools = selectedPools(config, input.pools);
    const outcomes = pools.map((pool) => generateOne(config, pool, { ...input, name: names.get(keyOf(config, pool)) }));
    const problems = [
      ...(pools.length === 0 ? ['its machineConfigPoolSelector selects no pool'] : []),
      ...new Set(outcomes.flatMap((outcome) => outcome.problems)),
    ];
    const machineConfigs =
      problems.length === 0 ? outcomes.flatMap(({ machineConfig }) => machineConfig ?? []) : madeFrom(config, input);
    return { config, pools, machineConfigs, problems };
  });
  return {
    machineConfigs: made.flatMap(({ machineConfigs }) => machineConfigs),
    results: made.map(({ config, pools, machineConfigs, problems }) => ({
      kubeletConfig: config.metadata.name,
      pools: pools.map(({ metadata }) => metadata.name),
      machineConfigs: machineConfigs.map(({ metadata }) => metadata.name),
      problems,
    })),
  };
}

function byName<T extends { readonly metadata: { readonly name: string } }>(items: readonly T[]): readonly T[] {
  return items.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

function selectedPools({ spec }: KubeletConfig, pools: readonly MachineConfigPool[]): readonly MachineConfigPool[] {
  return pools.filter(({ metadata }) => selects(spec.machineConfigPoolSelector, metadata.labels));
}

function keyOf(config: KubeletConfig, pool: MachineConfigPool): string {
  return `${config.metadata.name}\0${pool.metadata.name}`;
}

/** What exists keeps its name; a new one gets the first that is free. Undefined beyond the tenth of a pool. */
function generatedNames({ kubeletConfigs, pools, machineConfigs }: KubeletConfigInput): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(machineConfigs.map(({ metadata }) => metadata.name));
  for (const pool of pools) {
    const selecting = byName(kubeletConfigs).filter((config) => selectedPools(config, [pool]).length > 0);
    const own = new Map(
      machineConfigs
        .filter(({ metadata }) => metadata.labels[roleLabel] === pool.metadata.name)
        .map(({ metadata }) => [metadata.annotations[kubeletConfigAnnotation] ?? '', metadata.name]),
    );
    const base = `99-${pool.metadata.name}-generated-kubelet`;
    const free = [base, ...Array.from({ length: 9 }, (_, index) => `${base}-${index + 1}`)].filter(
      (name) => !taken.has(name),
    );
    for (const config of selecting) {
      const name = own.get(config.metadata.name) ?? free.shift();
      if (name !== undefined) names.set(keyOf(config, pool), name);
    }
  }
  return names;
}

interface Outcome {
  readonly machineConfig?: MachineConfig;
  readonly problems: readonly string[];
}

function generateOne(
  config: KubeletConfig,
  pool: MachineConfigPool,
  input: KubeletConfigInput & { readonly name: string | undefined },
): Outcome {
  const role = pool.metadata.name === 'master' ? 'master' : 'worker';
  const { name, generatedBy, sharesHost } = input;
  if (name === undefined) return { problems: [`the pool ${pool.metadata.name} has ten KubeletConfigs already`] };
  const file = defaultFile(role, input.machineConfigs);
  if (file === undefined) return { problems: [`there is no MachineConfig 01-${role}-kubelet with the defaults`] };
  const problems = [
    ...settingProblems(config),
    ...kubeletFieldProblems(config.spec.kubeletConfig, { isControlPlane: role === 'master', sharesHost }),
  ];
  if (problems.length > 0) return { problems };
  const contents = { source: dataUrl(toYaml(mergedFields(file.fields, userFields(config)))) };
  return {
    problems,
    machineConfig: {
      metadata: {
        name,
        labels: { [roleLabel]: pool.metadata.name },
        annotations: { [generatedAnnotation]: generatedBy, [kubeletConfigAnnotation]: config.metadata.name },
      },
      spec: configSpec({ ignition: { version: latestSpec }, storage: { files: [{ ...file.node, contents }] } }),
    },
  };
}

/** Our kubelet has no unit that measures the machine, so nothing could size what it reserves. */
function settingProblems({ spec }: KubeletConfig): readonly string[] {
  return [
    ...(spec.autoSizingReserved === true
      ? ['autoSizingReserved cannot be honoured here; set kubeletConfig.systemReserved']
      : []),
    ...(spec.tlsSecurityProfile === undefined || spec.tlsSecurityProfile === null
      ? []
      : ['tlsSecurityProfile cannot be honoured here; set kubeletConfig.tlsMinVersion and tlsCipherSuites']),
  ];
}

interface DefaultFile {
  readonly node: FileNode;
  readonly fields: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

function defaultFile(role: string, machineConfigs: readonly MachineConfig[]): DefaultFile | undefined {
  const found = machineConfigs.find(({ metadata }) => metadata.name === `01-${role}-kubelet`);
  const node = found?.spec.config.storage?.files?.find(({ path }) => path === kubeletConfiguration);
  const decoded = decodeDataUrl(node?.contents?.source ?? '');
  if (node === undefined || decoded.status === 'malformed') return undefined;
  return { node, fields: parseYaml(Buffer.from(decoded.url.bytes).toString('utf8')) as Fields };
}

/** The level is a field of the kubelet's own configuration, so no drop-in of its unit is needed. */
function userFields({ spec }: KubeletConfig): Fields {
  const { apiVersion: _apiVersion, kind: _kind, ...fields } = spec.kubeletConfig;
  if (spec.logLevel === undefined || spec.logLevel === null) return fields;
  return mergedFields(fields, { logging: { verbosity: spec.logLevel } });
}

/** Objects field by field; everything else is replaced. An empty `staticPodPath` means none. */
function mergedFields(defaults: Fields, given: Fields): Fields {
  const merged: Record<string, unknown> = { ...defaults };
  for (const [field, value] of Object.entries(given)) {
    const before = merged[field];
    if (field === 'staticPodPath') delete merged[field];
    else merged[field] = isFields(before) && isFields(value) ? mergedFields(before, value) : value;
  }
  return merged;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function madeFrom({ metadata }: KubeletConfig, { machineConfigs }: KubeletConfigInput): readonly MachineConfig[] {
  return machineConfigs.filter((made) => made.metadata.annotations[kubeletConfigAnnotation] === metadata.name);
}
