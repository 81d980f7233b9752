// From documents to MachineConfigs, pools, KubeletConfigs and the ControllerConfig, each mistake with its place. Other
// kinds are skipped, because a folder of manifests holds many. All documents are read before a mistake is reported.
import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import type { IgnitionConfig } from '../ignition/config.ts';
import { parseIgnition } from '../ignition/parse.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import type { ReadDocument } from '../source-text/documents.ts';
import type { FieldPath } from '../source-text/field-path.ts';
import type { JudgedMistake } from '../source-text/mistake.ts';
import { type Place, placeText } from '../source-text/place.ts';
import { type KubeletConfig, kubeletConfigSchema } from './kubelet-config.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool } from './machine-config.ts';
import { apiVersion, controllerConfigSchema, machineConfigPoolSchema, machineConfigSchema } from './machine-config.ts';
import { specMistakes } from './spec-rules.ts';

export interface ReadObjects {
  readonly machineConfigs: readonly MachineConfig[];
  readonly pools: readonly MachineConfigPool[];
  readonly kubeletConfigs: readonly KubeletConfig[];
  readonly controllerConfig: ControllerConfig | undefined;
  readonly mistakes: readonly JudgedMistake[];
  /** Where a MachineConfig, or an object of another kind, was read from. */
  readonly placeOf: (name: string, kind?: Kind) => Place | undefined;
}

export function readObjects(documents: readonly ReadDocument[]): ReadObjects {
  const machineConfigs: MachineConfig[] = [];
  const pools: MachineConfigPool[] = [];
  const kubeletConfigs: KubeletConfig[] = [];
  const controllerConfigs: ControllerConfig[] = [];
  const mistakes: JudgedMistake[] = [];
  const seen = new Map<string, ReadDocument>();
  for (const item of documents.flatMap((document) => itemsOf(document))) {
    const kind = kindOf(item.value);
    if (kind === undefined) continue;
    const found = readItem(kind, item);
    mistakes.push(...found.mistakes);
    if (found.object === undefined) continue;
    const duplicate = duplicateMistake(`${kind} ${found.object.metadata.name}`, item, seen);
    if (duplicate !== undefined) mistakes.push(duplicate);
    else if (found.kind === 'MachineConfig') machineConfigs.push(found.object);
    else if (found.kind === 'MachineConfigPool') pools.push(found.object);
    else if (found.kind === 'KubeletConfig') kubeletConfigs.push(found.object);
    else controllerConfigs.push(found.object);
  }
  const placeOf = (name: string, kind: Kind = 'MachineConfig'): Place | undefined =>
    seen.get(`${kind} ${name}`)?.placeOf([]);
  return { machineConfigs, pools, kubeletConfigs, controllerConfig: controllerConfigs[0], mistakes, placeOf };
}

const readKinds = ['MachineConfig', 'MachineConfigPool', 'KubeletConfig', 'ControllerConfig'] as const;
type Kind = (typeof readKinds)[number];

type Found = { readonly mistakes: readonly JudgedMistake[] } & (
  | { readonly kind: 'MachineConfig'; readonly object: MachineConfig | undefined }
  | { readonly kind: 'MachineConfigPool'; readonly object: MachineConfigPool | undefined }
  | { readonly kind: 'KubeletConfig'; readonly object: KubeletConfig | undefined }
  | { readonly kind: 'ControllerConfig'; readonly object: ControllerConfig | undefined }
);

function readItem(kind: Kind, item: ReadDocument): Found {
  switch (kind) {
    case 'MachineConfig':
      return { kind, ...readMachineConfig(item) };
    case 'MachineConfigPool':
      return { kind, ...readBySchema(machineConfigPoolSchema, item) };
    case 'KubeletConfig':
      return { kind, ...readBySchema(kubeletConfigSchema, item) };
    case 'ControllerConfig':
      return { kind, ...readBySchema(controllerConfigSchema, item) };
  }
}

/** A List, as `kubectl get -o yaml` writes it, is its items. */
export function itemsOf(document: ReadDocument): readonly ReadDocument[] {
  const { kind, items } = document.value as { readonly kind?: unknown; readonly items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  return items.map((value: unknown, index) => ({
    value,
    placeOf: (path: FieldPath) => document.placeOf(['items', index, ...path]),
  }));
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const header = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (header.apiVersion !== apiVersion) return undefined;
  return readKinds.find((kind) => kind === header.kind);
}

/** Places are not kept, because finding one reads the document once more: only a mistake needs them. */
function duplicateMistake(
  object: string,
  item: ReadDocument,
  seen: Map<string, ReadDocument>,
): JudgedMistake | undefined {
  const before = seen.get(object);
  if (before === undefined) {
    seen.set(object, item);
    return undefined;
  }
  const message = `${object} is already defined at ${placeText(before.placeOf([]))}`;
  return { severity: 'error', ...item.placeOf([]), message };
}

interface Read<T> {
  readonly object: T | undefined;
  readonly mistakes: readonly JudgedMistake[];
}

function readBySchema<T>(schema: z.ZodType<T>, item: ReadDocument): Read<T> {
  const result = schema.safeParse(item.value);
  if (result.success) return { object: result.data, mistakes: [] };
  const mistakes = result.error.issues.map((issue): JudgedMistake => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    return { severity: 'error', ...item.placeOf(path), message: `${path.join('.')}: ${issue.message}` };
  });
  return { object: undefined, mistakes };
}

function readMachineConfig(item: ReadDocument): Read<MachineConfig> {
  const { object: read, mistakes } = readBySchema(machineConfigSchema, item);
  if (read === undefined) return { object: undefined, mistakes };
  const { config, mistakes: configMistakes } = readIgnition(read.spec.config, item);
  const found: JudgedMistake[] = [...unknownFields(item), ...configMistakes];
  if (config === undefined) return { object: undefined, mistakes: found };

  const object: MachineConfig = { metadata: read.metadata, spec: { ...read.spec, config } };
  for (const { severity, path, message } of specMistakes(object.spec)) {
    found.push({ severity, ...item.placeOf(['spec', ...path]), message: `spec.${path.join('.')}: ${message}` });
  }
  const isUsable = found.every(({ severity }) => severity === 'warning');
  return { object: isUsable ? object : undefined, mistakes: found };
}

const conversionHint =
  'convert it to 3.x with ign-converter (github.com/coreos/ign-converter), which reads a 2.x config and writes the same as 3.x';

function readIgnition(
  raw: unknown,
  item: ReadDocument,
): { readonly config: IgnitionConfig | undefined; readonly mistakes: readonly JudgedMistake[] } {
  if (isAbsent(raw)) return { config: { ignition: { version: latestSpec } }, mistakes: [] };
  const version = (raw as { ignition?: { version?: unknown } }).ignition?.version;
  if (typeof version === 'string' && /^[12]\./.test(version)) {
    const place = item.placeOf(['spec', 'config', 'ignition', 'version']);
    const message = `spec.config is Ignition ${version}; ${conversionHint}`;
    return { config: undefined, mistakes: [{ severity: 'error', ...place, message }] };
  }
  const parsed = parseIgnition(JSON.stringify(raw));
  const mistakes = [...parsed.report.errors, ...parsed.report.warnings].map(
    ({ severity, path, message }): JudgedMistake => {
      const steps = path.split('.').slice(1);
      const place = item.placeOf([
        'spec',
        'config',
        ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
      ]);
      return { severity, ...place, message: `spec.config.${steps.join('.')}: ${message}` };
    },
  );
  return { config: parsed.status === 'parsed' ? parsed.config : undefined, mistakes };
}

/** No config, or `{}`: a MachineConfig that sets only kernel arguments and the like. */
function isAbsent(raw: unknown): boolean {
  if (raw === undefined || raw === null) return true;
  return typeof raw === 'object' && Object.keys(raw).length === 0;
}

const specFields = Object.keys(machineConfigSchema.shape.spec.in.unwrap().unwrap().shape);

/** The API silently drops unknown fields, so a misspelled one would have no effect. */
function unknownFields(item: ReadDocument): readonly JudgedMistake[] {
  const spec = (item.value as { readonly spec?: Readonly<Record<string, unknown>> | null }).spec ?? {};
  return Object.keys(spec)
    .filter((field) => !specFields.includes(field))
    .map((field) => {
      const near = specFields.find((known) => distance(known.toLowerCase(), field.toLowerCase()) <= 2);
      const message = `spec.${field}: unknown field, ignored${near === undefined ? '' : `; did you mean ${near}?`}`;
      return { severity: 'warning', ...item.placeOf(['spec', field]), message };
    });
}
