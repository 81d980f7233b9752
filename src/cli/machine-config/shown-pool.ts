// What a machine of a pool gets: the list with the origin of each entry, or one entry as the machine gets it.
import type { FileNode, Link, Unit } from '../../ignition/config.ts';
import { decodeDataUrl } from '../../ignition/data-url.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import type { EntryExplanation } from '../../machine-config/explain.ts';
import { decidedBy, explainAll, isContested } from '../../machine-config/explain.ts';
import type { LoadedObjects } from '../../machine-config/load-objects.ts';
import type { MergedEntry } from '../../machine-config/merge-configs.ts';
import { alignColumns } from '../frame/columns.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';
import { notesText, renderNamed, sizeText } from './input.ts';

export function showPool(objects: LoadedObjects, pool: string): CommandResult {
  const rendered = renderNamed(objects, pool);
  const explanations = explainAll(rendered).toSorted(byKindAndName);
  const entries = new Map(rendered.merged.entries.map((entry) => [`${entry.kind} ${entry.name}`, entry]));
  const rows = explanations.map((explanation) => [
    explanation.kind,
    explanation.name,
    detailOf(entries.get(`${explanation.kind} ${explanation.name}`)),
    fromText(explanation),
  ]);
  const { machineConfig, sources } = rendered;
  const { config: _config, ...settings } = machineConfig.spec;
  const head = `${rendered.name}   ${sources.length} MachineConfigs, ${sizeText(rendered.sizeBytes)}\n\n`;
  return {
    data: { pool, name: rendered.name, settings, contents: explanations, warnings: rendered.warnings },
    text: `${head}${alignColumns(rows, '  ')}${settingsText(settings)}${notesText(objects, rendered.warnings)}`,
  };
}

const kindOrder: readonly EntryExplanation['kind'][] = [
  'file',
  'directory',
  'link',
  'unit',
  'drop-in',
  'user',
  'group',
  'kernel argument',
  'extension',
  'section',
];

function byKindAndName(one: EntryExplanation, other: EntryExplanation): number {
  const kinds = kindOrder.indexOf(one.kind) - kindOrder.indexOf(other.kind);
  return kinds === 0 ? one.name.localeCompare(other.name, 'en') : kinds;
}

function fromText(explanation: EntryExplanation): string {
  const by = decidedBy(explanation);
  if (isContested(explanation)) return `${by}  (overrides another)`;
  const others = explanation.contributions.length - 1;
  return others === 0 ? by : `${by}  and ${others} more`;
}

function detailOf(entry: MergedEntry | undefined): string {
  if (entry === undefined) return '';
  if (entry.kind === 'file') {
    const file = entry.fields as unknown as FileNode;
    return `${octal(file.mode ?? 0o644)} ${contentText(file.contents?.source)}`;
  }
  if (entry.kind === 'link') return `→ ${(entry.fields as unknown as Link).target ?? ''}`;
  if (entry.kind !== 'unit') return '';
  const unit = entry.fields as unknown as Unit;
  if (unit.mask === true) return 'masked';
  if (unit.enabled === undefined) return 'left open';
  return unit.enabled ? 'enabled' : 'not enabled';
}

function contentText(source: string | undefined): string {
  if (source === undefined) return '';
  const decoded = decodeDataUrl(source);
  return decoded.status === 'decoded' ? sizeText(decoded.url.bytes.length) : source;
}

function settingsText(settings: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(settings).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    return text === '' || text === 'false' || text === 'default' ? [] : [[name, text]];
  });
  return rows.length === 0 ? '' : `\n${alignColumns(rows, '  ')}`;
}

/** The file or unit itself, byte for byte where it is in the configuration. */
export function showEntry(objects: LoadedObjects, pool: string, name: string): CommandResult {
  const rendered = renderNamed(objects, pool);
  const { entries } = rendered.merged;
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) {
    const similar = nearestName(
      name,
      entries.map((entry) => entry.name),
    );
    throw machineConfigErrors.NOT_THERE({
      pool: rendered.pool,
      name,
      similar: similar === undefined ? [] : [similar],
    });
  }
  return { data: { kind: found.kind, name, ...found.fields }, text: contentsOf(found), isContent: true };
}

function contentsOf(entry: MergedEntry): string {
  if (entry.kind === 'unit') {
    const { name, contents, dropins } = entry.fields as unknown as Unit;
    const parts = [
      { title: name, text: contents ?? '' },
      ...(dropins ?? []).map((dropin) => ({ title: `${name}.d/${dropin.name}`, text: dropin.contents ?? '' })),
    ];
    // As `systemctl cat` shows a unit and its drop-ins.
    return parts.map(({ title, text }) => `# /etc/systemd/system/${title}\n${text}`).join('\n');
  }
  const source = (entry.fields as unknown as Partial<FileNode>).contents?.source;
  if (entry.kind !== 'file' || source === undefined) return `${JSON.stringify(entry.fields, null, 2)}\n`;
  const decoded = decodeDataUrl(source);
  return decoded.status === 'decoded' ? Buffer.from(decoded.url.bytes).toString() : `fetched from ${source}\n`;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}
