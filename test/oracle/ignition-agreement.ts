// Compares what we say about a config with what Ignition says: the verdict, the places complained about and, where
// Ignition gives one, the position in the text. Wording is ours and is not compared.
import type { IgnitionReport } from '../../src/ignition/report.ts';
import { reportVerdict } from '../../src/ignition/report.ts';
import type { OracleAnswer, OracleEntry } from './ignition-oracle.ts';

/** What is different, or undefined. */
export function disagreement(text: string, ours: IgnitionReport, theirs: OracleAnswer): string | undefined {
  const our = reportVerdict(ours);
  if (our !== theirs.verdict) return `verdict: we say ${our}, Ignition says ${theirs.verdict} (${theirs.error ?? ''})`;
  // Ignition places mistakes of JSON and of types only in the text, and only the first one.
  if (theirs.entries.every(({ path }) => path === '$')) return undefined;

  const ourEntries = [...ours.errors, ...ours.warnings];
  const ourPlaces = new Set(ourEntries.map(({ severity, path }) => place(severity, path)));
  const theirPlaces = new Set(theirs.entries.filter(isNotRepeated).map(({ kind, path }) => place(kind, path)));
  const invented = [...ourPlaces].filter((one) => !theirPlaces.has(one));
  const missed = [...theirPlaces].filter((one) => !ourPlaces.has(one));
  if (invented.length + missed.length > 0)
    return `only we: ${invented.join(', ')}; only Ignition: ${missed.join(', ')}`;

  // Ignition counts columns in bytes, we in characters.
  const isAscii = text.length === Buffer.byteLength(text);
  for (const entry of ourEntries) {
    const same = theirs.entries.find(({ kind, path }) => kind === entry.severity && path === entry.path);
    if (same !== undefined && isAscii && !isSamePosition(entry.position, same)) {
      return `${entry.path}: we say ${JSON.stringify(entry.position)}, Ignition says ${same.line}:${same.column}`;
    }
  }
  return undefined;
}

/**
 * Ignition reports a required source on the list entry and on its source; which of several colliding partitions it
 * names is chance.
 */
function place(severity: string, path: string): string {
  const joined = path
    .replace(/(\.(?:merge|certificateAuthorities)\.\d+)\.source$/, '$1')
    .replace(/(\.disks\.\d+\.partitions)\.\d+$/, '$1');
  return `${severity} ${joined}`;
}

/** A bad key file is reported at its source and again at `keys`, a key that does not exist. */
function isNotRepeated({ path }: OracleEntry): boolean {
  return !/\.luks\.\d+\.keys$/.test(path);
}

/** Ignition places an object one column late, after its brace. */
function isSamePosition(
  ours: { readonly line: number; readonly column: number } | undefined,
  theirs: OracleEntry,
): boolean {
  if (ours === undefined || theirs.line === undefined || theirs.column === undefined) return true;
  return ours.line === theirs.line && (ours.column === theirs.column || ours.column === theirs.column - 1);
}

/** A config of Ignition's without the empty objects and lists it prints, to compare it with one of ours. */
export function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pruned(item) ?? {});
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, member]) => [key, Array.isArray(member) && member.length === 0 ? undefined : pruned(member)] as const)
    .filter(([, member]) => member !== undefined && member !== null);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
