// Why something is on a machine: which MachineConfigs name it, which of them were overridden, what the machine gets.
// Read from the sources that rendering kept; nothing is merged again.
import { canonicalJson } from './canonical-json.ts';
import type { EntryFields, MergedEntry, Source } from './merge-configs.ts';
import type { RenderedPool } from './render.ts';

export type ExplainedKind = MergedEntry['kind'] | 'drop-in' | 'kernel argument' | 'extension' | 'section';

export interface Contribution {
  readonly machineConfig: string;
  /** The fields that it sets: `contents`, `mode` … */
  readonly sets: readonly string[];
  /** Those of them that a later MachineConfig sets differently. */
  readonly overridden: readonly { readonly field: string; readonly by: string }[];
}

export interface EntryExplanation {
  readonly kind: ExplainedKind;
  /** The path or name; a drop-in is `<unit>.d/<name>`. */
  readonly name: string;
  /** In merge order. */
  readonly contributions: readonly Contribution[];
}

/** Every entry that a machine of the pool gets, once, in the order of the rendered configuration. */
export function explainAll(rendered: RenderedPool): readonly EntryExplanation[] {
  const { entries, sections } = rendered.merged;
  return [
    ...entries.flatMap((entry) => [explainEntry(entry), ...explainDropins(entry)]),
    ...explainList(rendered, 'kernelArguments', 'kernel argument'),
    ...explainList(rendered, 'extensions', 'extension'),
    ...sections.map(({ section, machineConfigs }): EntryExplanation => {
      const contributions = machineConfigs.map((machineConfig) => ({ machineConfig, sets: [section], overridden: [] }));
      return { kind: 'section', name: section, contributions };
    }),
  ];
}

/** What `name` means in this pool; several things may have one name (a user and a group). */
export function explainNamed(rendered: RenderedPool, name: string): readonly EntryExplanation[] {
  const fullPath = /^\/etc\/systemd\/system\/(.+)$/.exec(name)?.[1];
  return explainAll(rendered).filter((found) => found.name === name || found.name === fullPath);
}

/** The MachineConfig that decided: the last one that sets anything. */
export function decidedBy(explanation: EntryExplanation): string {
  return explanation.contributions.at(-1)?.machineConfig ?? '';
}

export function isContested(explanation: EntryExplanation): boolean {
  return explanation.contributions.some(({ overridden }) => overridden.length > 0);
}

/** Lists that grow instead of being replaced, and lists with names of their own. */
const growingFields = new Set(['append', 'dropins', 'groups', 'sshAuthorizedKeys']);
const keyFields = new Set(['path', 'name']);

function explainEntry({ kind, name, sources }: MergedEntry): EntryExplanation {
  return { kind, name, contributions: contributionsOf(sources) };
}

function contributionsOf(sources: readonly Source[]): readonly Contribution[] {
  return sources.map((source, index) => {
    const sets = fieldsOf(source.fields);
    const later = sources.slice(index + 1);
    const overridden = sets.flatMap((field) => {
      const by = later.find((other) => overrides(other, source, field));
      return by === undefined ? [] : [{ field, by: by.machineConfig }];
    });
    return { machineConfig: source.machineConfig, sets, overridden };
  });
}

function fieldsOf(fields: EntryFields): readonly string[] {
  return Object.keys(fields).filter((field) => !keyFields.has(field) && fields[field] !== undefined);
}

function overrides(later: Source, earlier: Source, field: string): boolean {
  // Another kind under the same path replaces the whole entry.
  if (later.kind !== earlier.kind) return true;
  if (growingFields.has(field) || later.fields[field] === undefined) return false;
  return canonicalJson(later.fields[field]) !== canonicalJson(earlier.fields[field]);
}

interface NamedItem extends EntryFields {
  readonly name: string;
}

function explainDropins({ kind, name, sources }: MergedEntry): readonly EntryExplanation[] {
  if (kind !== 'unit') return [];
  const byDropin = new Map<string, Source[]>();
  for (const source of sources) {
    for (const dropin of (source.fields['dropins'] ?? []) as readonly NamedItem[]) {
      byDropin.set(dropin.name, [...(byDropin.get(dropin.name) ?? []), { ...source, fields: dropin }]);
    }
  }
  return [...byDropin].map(([dropin, found]) => ({
    kind: 'drop-in',
    name: `${name}.d/${dropin}`,
    contributions: contributionsOf(found),
  }));
}

function explainList(
  rendered: RenderedPool,
  field: 'kernelArguments' | 'extensions',
  kind: 'kernel argument' | 'extension',
): readonly EntryExplanation[] {
  const byItem = new Map<string, Contribution[]>();
  for (const { metadata, spec } of rendered.sources) {
    for (const item of spec[field]) {
      const contribution = { machineConfig: metadata.name, sets: [field], overridden: [] };
      byItem.set(item, [...(byItem.get(item) ?? []), contribution]);
    }
  }
  return [...byItem].map(([name, contributions]) => ({ kind, name, contributions }));
}
