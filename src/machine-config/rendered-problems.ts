// Problems of a rendered configuration whose MachineConfigs are each valid: the sum is not valid Ignition, an inherited
// hash does not fit the contents, a kernel and its headers do not match. Each reason names the MachineConfigs that
// caused it.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { FileNode } from '../ignition/config.ts';
import { decodeDataUrl } from '../ignition/data-url.ts';
import { validate } from '../ignition/validate.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import type { MergedConfigs, MergedEntry } from './merge-configs.ts';

export interface RenderedProblems {
  /** Each is a reason why the whole cannot be used. */
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
}

export function renderedProblems(spec: MachineConfigSpec, merged: MergedConfigs): RenderedProblems {
  const report = validate(spec.config, { duplicates: false });
  const entryAt = entriesByList(merged);
  return {
    reasons: [
      ...report.errors.map(({ path, message }) => `${path}: ${message}${causedBy(entryAt(path))}`),
      ...hashMistakes(merged.entries),
      ...kernelMistakes(spec),
    ],
    warnings: [
      ...report.warnings.map(({ path, message }) => `${path}: ${message}${causedBy(entryAt(path))}`),
      ...appendWarnings(merged.entries),
    ],
  };
}

function causedBy(entry: MergedEntry | undefined): string {
  if (entry === undefined) return '';
  const names = [...new Set(entry.sources.map(({ machineConfig }) => machineConfig))];
  return ` (${entry.kind} ${entry.name}, from ${names.join(' and ')})`;
}

const listKinds: Readonly<Record<string, MergedEntry['kind']>> = {
  directories: 'directory',
  files: 'file',
  links: 'link',
  units: 'unit',
  users: 'user',
  groups: 'group',
};

/** The entry that a path such as `$.storage.files.3.mode` is about. */
function entriesByList(merged: MergedConfigs): (path: string) => MergedEntry | undefined {
  const byKind = Map.groupBy(merged.entries, ({ kind }) => kind);
  return (path) => {
    const [, , list = '', index = ''] = path.split('.');
    const kind = listKinds[list];
    return kind === undefined ? undefined : byKind.get(kind)?.[Number(index)];
  };
}

/**
 * A child that brings new contents but no hash inherits the hash of the contents it replaced, and the machine would
 * stop at first boot. Only contents that are in the config can be checked.
 */
function hashMistakes(entries: readonly MergedEntry[]): readonly string[] {
  return entries.flatMap((entry) => {
    const { contents } = entry.fields as Partial<FileNode>;
    const hash = contents?.verification?.hash;
    if (entry.kind !== 'file' || hash === undefined || contents?.source?.startsWith('data:') !== true) return [];
    const decoded = decodeDataUrl(contents.source);
    if (decoded.status === 'malformed') return [];
    const [algorithm = '', digits = ''] = hash.split('-');
    const bytes = unpacked(decoded.url.bytes, contents.compression);
    if (bytes === undefined) return [`${entry.name} is not gzip although it says so${causedBy(entry)}`];
    if (createHash(algorithm).update(bytes).digest('hex') === digits.toLowerCase()) return [];
    return [`${entry.name} does not have the hash it is verified with${causedBy(entry)}`];
  });
}

const unpackedLimitBytes = 64 * 1024 * 1024;

function unpacked(bytes: Uint8Array, compression: string | undefined): Uint8Array | undefined {
  if (compression !== 'gzip') return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedLimitBytes });
  } catch {
    return undefined;
  }
}

function kernelMistakes(spec: MachineConfigSpec): readonly string[] {
  if (spec.kernelType === 'default' || !spec.extensions.includes('kernel-devel')) return [];
  return [`the extension kernel-devel does not exist for the kernel ${spec.kernelType}`];
}

function appendWarnings(entries: readonly MergedEntry[]): readonly string[] {
  return entries
    .filter((entry) => ((entry.fields as Partial<FileNode>).append ?? []).length > 0)
    .map((entry) => `${entry.name} is appended to, which works at first boot only${causedBy(entry)}`);
}
