// Renders a pool: merges its MachineConfigs into one whose name is a hash of its spec. The same MachineConfigs in any
// order give the same name and bytes. A result that no machine could use is refused here, with the names of the
// MachineConfigs that caused it.
import { digestOf } from '../workflow/digest.ts';
import { canonicalJson } from './canonical-json.ts';
import { machineConfigErrors } from './errors.ts';
import type { KernelType, MachineConfig, MachineConfigPool, MachineConfigSpec } from './machine-config.ts';
import { apiVersion, generatedAnnotation, osImageOverriddenAnnotation } from './machine-config.ts';
import type { MergedConfigs } from './merge-configs.ts';
import { mergeConfigs } from './merge-configs.ts';
import { selectMachineConfigs } from './pools.ts';
import { reconcilableProblems, type SettingName, type SpecProblem } from './reconcilable.ts';
import { renderedProblems } from './rendered-problems.ts';
import { type MachineTraits, unsupportedProblems } from './unsupported.ts';

/** The largest object that etcd stores. */
export const objectLimitBytes = 1_572_864;

export interface RenderOptions {
  /** The operating system image, unless a MachineConfig of the user sets another. */
  readonly osImageURL?: string;
  /** Written into an annotation, never into the name. */
  readonly generatedBy: string;
  readonly limitBytes?: number;
  /** What the machines of the cluster can be asked for. Without it (a folder of another cluster) nothing is refused. */
  readonly machines?: MachineTraits | undefined;
  /** What the machines of the pool have now: the result must be something that they can be brought to. */
  readonly replaces?: MachineConfigSpec | undefined;
}

/** As it is stored and served: the object's own field order, ready for JSON. */
export interface RenderedMachineConfig {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'MachineConfig';
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: MachineConfigSpec;
}

export interface RenderedPool {
  readonly pool: string;
  readonly name: string;
  readonly machineConfig: RenderedMachineConfig;
  /** The MachineConfigs it is made of, in merge order. */
  readonly sources: readonly MachineConfig[];
  readonly merged: MergedConfigs;
  readonly sizeBytes: number;
  readonly warnings: readonly string[];
}

export function renderPool(
  pool: MachineConfigPool,
  machineConfigs: readonly MachineConfig[],
  options: RenderOptions,
): RenderedPool {
  const poolName = pool.metadata.name;
  const sources = selectMachineConfigs(pool, machineConfigs);
  const merged = mergeConfigs(sources);
  const osImage = lastSet(sources.filter(isUsers), 'osImageURL');
  const spec: MachineConfigSpec = {
    config: merged.config,
    kernelArguments: sources.flatMap((source) => source.spec.kernelArguments),
    extensions: sources.flatMap((source) => source.spec.extensions),
    fips: sources.some((source) => source.spec.fips),
    kernelType: kernelTypeOf(sources),
    osImageURL: osImage ?? options.osImageURL ?? '',
    baseOSExtensionsContainerImage: lastSet(sources.filter(isUsers), 'baseOSExtensionsContainerImage') ?? '',
  };

  const { reasons, warnings } = renderedProblems(spec, merged);
  if (reasons.length > 0) throw machineConfigErrors.REFUSED({ pool: poolName, reasons });
  const { machines, replaces } = options;
  const unsupported =
    machines === undefined ? [] : unsupportedProblems(spec, { ...machines, osImageURL: options.osImageURL ?? '' });
  const asked = new Set(unsupported.map(({ about }) => canonicalJson(about)));
  const irreconcilable = (replaces === undefined ? [] : reconcilableProblems(replaces, spec)).filter(
    ({ about }) => !asked.has(canonicalJson(about)),
  );
  const problems = [...unsupported, ...irreconcilable].map((problem) => blamedText(problem, sources, merged));
  if (problems.length > 0) throw machineConfigErrors.NOT_APPLICABLE({ pool: poolName, problems });

  const canonicalSpec = canonicalJson(spec);
  const name = `rendered-${poolName}-${digestOf(canonicalSpec).slice(0, 32)}`;
  const isOverridden = osImage !== undefined && osImage !== (options.osImageURL ?? '');
  const machineConfig: RenderedMachineConfig = {
    apiVersion,
    kind: 'MachineConfig',
    metadata: {
      name,
      annotations: {
        [generatedAnnotation]: options.generatedBy,
        ...(isOverridden ? { [osImageOverriddenAnnotation]: 'true' } : {}),
      },
    },
    spec,
  };
  const frame = JSON.stringify({ ...machineConfig, spec: undefined });
  const sizeBytes = Buffer.byteLength(frame) + Buffer.byteLength(canonicalSpec);
  return {
    pool: poolName,
    name,
    machineConfig,
    sources,
    merged,
    sizeBytes,
    warnings: [
      ...warnings,
      ...checkSize({ pool: poolName, merged, sizeBytes }, options.limitBytes ?? objectLimitBytes),
    ],
  };
}

/** With the MachineConfigs that ask for it; nobody does any more when it is the removal that cannot be done. */
function blamedText({ about, message }: SpecProblem, sources: readonly MachineConfig[], merged: MergedConfigs): string {
  const names = [...new Set(blamed(about, sources, merged))];
  return names.length === 0
    ? `${message} (no MachineConfig has it any more)`
    : `${message} (from ${names.join(' and ')})`;
}

function blamed(
  about: SpecProblem['about'],
  sources: readonly MachineConfig[],
  { entries, sections }: MergedConfigs,
): readonly string[] {
  if (about.kind === 'field') {
    return sources.filter(({ spec }) => isSet(spec[about.name])).map(({ metadata }) => metadata.name);
  }
  if (about.kind === 'section') return sections.find(({ section }) => section === about.name)?.machineConfigs ?? [];
  const entry = entries.find(({ kind, name }) => kind === about.kind && name === about.name);
  return entry?.sources.map(({ machineConfig }) => machineConfig) ?? [];
}

function isSet(value: MachineConfigSpec[SettingName]): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== '' && value !== false && value !== 'default';
}

/** A MachineConfig of the user; the image of a generated one is a default. */
function isUsers(machineConfig: MachineConfig): boolean {
  return machineConfig.metadata.annotations[generatedAnnotation] === undefined;
}

function lastSet(
  sources: readonly MachineConfig[],
  field: 'osImageURL' | 'baseOSExtensionsContainerImage',
): string | undefined {
  return sources.findLast((source) => source.spec[field] !== '')?.spec[field];
}

function kernelTypeOf(sources: readonly MachineConfig[]): KernelType {
  const special = sources.findLast(({ spec }) => spec.kernelType === 'realtime' || spec.kernelType === '64k-pages');
  return special?.spec.kernelType ?? 'default';
}

function checkSize(
  { pool, merged, sizeBytes }: Pick<RenderedPool, 'pool' | 'merged' | 'sizeBytes'>,
  limitBytes: number,
): readonly string[] {
  if (sizeBytes > limitBytes) {
    const largest = merged.entries
      .map(({ name, fields, sources }) => ({
        size: JSON.stringify(fields).length,
        text: `${name} from ${sources.at(-1)?.machineConfig ?? '?'}`,
      }))
      .sort((one, other) => other.size - one.size)
      .slice(0, 3)
      .map(({ size, text }) => `${text} (${size})`);
    throw machineConfigErrors.TOO_LARGE({ pool, sizeBytes, limitBytes, largest });
  }
  if (sizeBytes <= limitBytes * 0.8) return [];
  return [
    `${sizeBytes} bytes are ${Math.round((sizeBytes / limitBytes) * 100)} % of what an object of the API may have`,
  ];
}
