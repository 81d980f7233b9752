// The difference between two rendered configurations: every file, unit or setting that changes, and what each change
// costs on a running machine.
import type { IgnitionConfig } from '../ignition/config.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Disruption, DisruptionAction, DisruptionPolicies } from './disruption.ts';
import {
  combinedActions,
  disruptionOfPart,
  disruptionOfPath,
  disruptionOfUnit,
  needsDrain,
  noDisruptionPolicies,
} from './disruption.ts';
import type { MachineConfigSpec } from './machine-config.ts';

export interface ConfigChange {
  readonly kind: 'file' | 'directory' | 'link' | 'unit' | 'user' | 'group' | 'setting';
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** The fields that differ; empty when the whole thing came or went. */
  readonly fields: readonly string[];
  readonly disruption: Disruption;
}

export interface Difference {
  readonly changes: readonly ConfigChange[];
  /** What has to be done on a machine for all changes together. */
  readonly actions: readonly DisruptionAction[];
  readonly needsReboot: boolean;
  readonly needsDrain: boolean;
}

export function diffSpecs(
  before: MachineConfigSpec,
  after: MachineConfigSpec,
  policies: DisruptionPolicies = noDisruptionPolicies,
): Difference {
  const changes = [...settingChanges(before, after), ...configChanges(before.config, after.config, policies)];
  const actions = combinedActions(changes.map(({ disruption }) => disruption));
  const needsReboot = actions.some(({ kind }) => kind === 'reboot');
  return { changes, actions, needsReboot, needsDrain: needsDrain(actions) };
}

const settings = [
  'osImageURL',
  'kernelType',
  'kernelArguments',
  'extensions',
  'baseOSExtensionsContainerImage',
  'fips',
] as const;

function settingChanges(before: MachineConfigSpec, after: MachineConfigSpec): readonly ConfigChange[] {
  return settings
    .filter((name) => !isEqual(before[name], after[name]))
    .map((name) => ({ kind: 'setting', name, change: 'changed', fields: [], disruption: disruptionOfPart(name) }));
}

function configChanges(
  before: IgnitionConfig,
  after: IgnitionConfig,
  policies: DisruptionPolicies,
): readonly ConfigChange[] {
  const sections = (config: IgnitionConfig): Readonly<Record<string, unknown>> => {
    const { disks, raid, filesystems, luks } = config.storage ?? {};
    const { version: _version, ...ignition } = config.ignition;
    return { disks, raid, filesystems, luks, ignition, kernelArguments: config.kernelArguments };
  };
  const [older, newer] = [sections(before), sections(after)];
  const sectionChanges = Object.keys(newer)
    .filter((name) => !isEqual(older[name] ?? {}, newer[name] ?? {}))
    .map((name): ConfigChange => {
      return { kind: 'setting', name, change: 'changed', fields: [], disruption: disruptionOfPart(name) };
    });
  const changesOf = (
    kind: ListKind,
    one: readonly Item[] | undefined,
    other: readonly Item[] | undefined,
  ): readonly ConfigChange[] =>
    listChanges(one, other).map((change) => ({ kind, ...change, disruption: disruptionOf(kind, change, policies) }));
  return [
    ...sectionChanges,
    ...changesOf('directory', before.storage?.directories, after.storage?.directories),
    ...changesOf('file', before.storage?.files, after.storage?.files),
    ...changesOf('link', before.storage?.links, after.storage?.links),
    ...changesOf('unit', before.systemd?.units, after.systemd?.units),
    ...changesOf('user', before.passwd?.users, after.passwd?.users),
    ...changesOf('group', before.passwd?.groups, after.passwd?.groups),
  ];
}

type Item = object;
type ListKind = Exclude<ConfigChange['kind'], 'setting'>;
interface ListChange extends Pick<ConfigChange, 'name' | 'change' | 'fields'> {
  /** The fields that differ, or all of them when the whole thing came or went. */
  readonly touched: readonly string[];
}

function listChanges(before: readonly Item[] = [], after: readonly Item[] = []): readonly ListChange[] {
  const nameOf = (item: Item): string => {
    const { path, name } = item as { readonly path?: string; readonly name?: string };
    return path ?? name ?? '';
  };
  const older = new Map(before.map((item) => [nameOf(item), item]));
  const newer = new Map(after.map((item) => [nameOf(item), item]));
  const names = [...new Set([...older.keys(), ...newer.keys()])].sort();
  return names.flatMap((name): ListChange[] => {
    const [one, other] = [older.get(name), newer.get(name)];
    if (one === undefined || other === undefined) {
      const change = one === undefined ? 'added' : 'removed';
      return [{ name, change, fields: [], touched: Object.keys(one ?? other ?? {}) }];
    }
    const fields = changedFields(one, other);
    return fields.length === 0 ? [] : [{ name, change: 'changed', fields, touched: fields }];
  });
}

function changedFields(one: Item, other: Item): readonly string[] {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  const valueOf = (item: Item, field: string): unknown => (item as Readonly<Record<string, unknown>>)[field];
  return [...fields].filter((field) => !isEqual(valueOf(one, field), valueOf(other, field))).sort();
}

const credentialFields = ['passwordHash', 'sshAuthorizedKeys'];

function disruptionOf(kind: ListKind, { name, touched }: ListChange, policies: DisruptionPolicies): Disruption {
  if (kind === 'file' || kind === 'directory' || kind === 'link') return disruptionOfPath(name, policies);
  if (kind === 'unit') return disruptionOfUnit(name, policies);
  // The user every machine image has; others are made at first boot.
  const credentials = touched.filter((field) => field !== 'name');
  if (kind === 'user' && name === 'core' && credentials.every((field) => credentialFields.includes(field))) {
    return disruptionOfPart(credentials.includes('passwordHash') ? 'passwordHash' : 'sshAuthorizedKeys', policies);
  }
  return disruptionOfPart(kind);
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
