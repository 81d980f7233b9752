// Merges the Ignition configs of MachineConfigs left to right by Ignition's rules, entry by entry: every file, unit or
// user is gathered under its name with the MachineConfigs that set it, and only entries with several sources are
// merged. This is linear in the number of entries, and the sources answer why something is on a machine.
import type { FileNode, IgnitionConfig } from '../ignition/config.ts';
import { convertUp } from '../ignition/convert.ts';
import { merge } from '../ignition/merge.ts';
import { normalize } from '../ignition/serialize.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import type { MachineConfig } from './machine-config.ts';

/** The lists whose entries are tracked: section, list, key, and the namespace in which the key is unique. */
const trackedLists = [
  { section: 'storage', list: 'directories', kind: 'directory', namespace: 'path', key: 'path' },
  { section: 'storage', list: 'files', kind: 'file', namespace: 'path', key: 'path' },
  { section: 'storage', list: 'links', kind: 'link', namespace: 'path', key: 'path' },
  { section: 'systemd', list: 'units', kind: 'unit', namespace: 'unit', key: 'name' },
  { section: 'passwd', list: 'users', kind: 'user', namespace: 'user', key: 'name' },
  { section: 'passwd', list: 'groups', kind: 'group', namespace: 'group', key: 'name' },
] as const;

type TrackedList = (typeof trackedLists)[number];
export type MergedEntryKind = TrackedList['kind'];
export type EntryFields = Readonly<Record<string, unknown>>;

/** The fields of an entry as one MachineConfig sets them. */
export interface Source {
  readonly machineConfig: string;
  readonly kind: MergedEntryKind;
  readonly fields: EntryFields;
  /** Of the entry among all entries of all MachineConfigs, in merge order. */
  readonly position: number;
}

export interface MergedEntry {
  readonly kind: MergedEntryKind;
  /** The path or name. */
  readonly name: string;
  /** As the machine gets it. */
  readonly fields: EntryFields;
  /** In merge order; the last one that sets a field decides it. */
  readonly sources: readonly Source[];
}

/** A section without named entries (disks, proxy …) and the MachineConfigs that set something in it. */
export interface SectionSources {
  readonly section: string;
  readonly machineConfigs: readonly string[];
}

export interface MergedConfigs {
  readonly config: IgnitionConfig;
  readonly entries: readonly MergedEntry[];
  readonly sections: readonly SectionSources[];
}

export function mergeConfigs(machineConfigs: readonly MachineConfig[]): MergedConfigs {
  const sources = new Map<string, Source[]>();
  const sections = new Map<string, string[]>();
  let position = 0;
  let rest: IgnitionConfig = { ignition: { version: latestSpec } };
  for (const { metadata, spec } of machineConfigs) {
    const config = convertUp(spec.config);
    for (const tracked of trackedLists) {
      for (const fields of listOf(config, tracked)) {
        const id = `${tracked.namespace}\0${String(fields[tracked.key])}`;
        const source = { machineConfig: metadata.name, kind: tracked.kind, fields, position };
        const known = sources.get(id);
        if (known === undefined) sources.set(id, [source]);
        else known.push(source);
        position += 1;
      }
    }
    const remainder = untrackedPart(config);
    const names = sectionsOf(remainder);
    if (names.length === 0) continue;
    rest = merge(rest, remainder);
    for (const name of names) sections.set(name, [...(sections.get(name) ?? []), metadata.name]);
  }

  const entries = [...sources.values()].map((found) => mergeEntry(found));
  entries.sort((one, other) => one.position - other.position);
  return {
    config: assemble(rest, entries),
    entries,
    sections: [...sections].map(([section, names]) => ({ section, machineConfigs: names })),
  };
}

/** `position`: of the entry in its list. An entry whose kind changes goes to the end, as in Ignition. */
function mergeEntry(sources: readonly Source[]): MergedEntry & { readonly position: number } {
  const last = sources.at(-1);
  if (last === undefined) throw new Error('an entry has at least one source');
  const tracked = listOfKind(last.kind);
  const sameKindFrom = sources.findLastIndex(({ kind }) => kind !== last.kind) + 1;
  const live = sources.slice(sameKindFrom);
  const merged = live
    .map(({ fields }) => singleEntry(tracked, beforeMerge(last.kind, fields)))
    .reduce((parent, child) => merge(parent, child));
  const [fields = {}] = listOf(merged, tracked);
  return {
    kind: last.kind,
    name: String(last.fields[tracked.key]),
    fields: afterMerge(last.kind, fields),
    sources,
    position: live[0]?.position ?? last.position,
  };
}

function listOfKind(kind: MergedEntryKind): TrackedList {
  const found = trackedLists.find((tracked) => tracked.kind === kind);
  if (found === undefined) throw new Error(`no list holds a ${kind}`);
  return found;
}

/**
 * Contents merge field by field, so a plain file over a compressed one would inherit the compression and be unpacked
 * on the machine. Contents with a source are therefore marked as uncompressed unless they set a compression.
 */
function beforeMerge(kind: MergedEntryKind, fields: EntryFields): EntryFields {
  const { contents } = fields as Partial<FileNode>;
  if (kind !== 'file' || contents?.source === undefined || contents.compression !== undefined) return fields;
  return { ...fields, contents: { ...contents, compression: '' } };
}

/** A rendered file replaces a file of the machine image; Ignition overwrites only where there are contents. */
function afterMerge(kind: MergedEntryKind, fields: EntryFields): EntryFields {
  if (kind !== 'file') return fields;
  const { contents, overwrite, ...others } = fields as unknown as FileNode;
  const { compression, ...content } = contents ?? {};
  const isCompressed = compression !== undefined && compression !== '';
  const overwrites = overwrite ?? (content.source === undefined ? undefined : true);
  return {
    ...others,
    ...(overwrites === undefined ? {} : { overwrite: overwrites }),
    ...(contents === undefined ? {} : { contents: isCompressed ? { ...content, compression } : content }),
  };
}

function listOf(config: IgnitionConfig, { section, list }: TrackedList): readonly EntryFields[] {
  return ((config[section] as Readonly<Record<string, unknown>> | undefined)?.[list] ?? []) as readonly EntryFields[];
}

function singleEntry({ section, list }: TrackedList, fields: EntryFields): IgnitionConfig {
  return { ignition: { version: latestSpec }, [section]: { [list]: [fields] } };
}

function untrackedPart(config: IgnitionConfig): IgnitionConfig {
  const { directories: _directories, files: _files, links: _links, ...storage } = config.storage ?? {};
  const { systemd: _systemd, passwd: _passwd, ...others } = config;
  return { ...others, storage };
}

function sectionsOf(config: IgnitionConfig): readonly string[] {
  const named = Object.entries({ ...config, ...config.storage }).filter(([name, value]) => {
    if (name === 'storage' || value === undefined) return false;
    return name === 'ignition' ? Object.keys(value).length > 1 : Object.keys(value).length > 0;
  });
  return named.map(([name]) => name);
}

function assemble(rest: IgnitionConfig, entries: readonly MergedEntry[]): IgnitionConfig {
  const config: Record<string, Record<string, unknown>> = { ...rest } as never;
  for (const tracked of trackedLists) {
    const items = entries.filter(({ kind }) => kind === tracked.kind).map(({ fields }) => fields);
    config[tracked.section] = { ...config[tracked.section], [tracked.list]: items };
  }
  return normalize(config as unknown as IgnitionConfig);
}
