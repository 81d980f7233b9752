// The path of a field in a document: keys and list indexes from the root.
import { quoted } from './quoted-text.ts';

export type FieldPath = readonly (string | number)[];

/** `hosts[2].name`; empty for the root. */
export function fieldPathText(path: FieldPath): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${plainKey(part)}`))
    .join('');
}

function plainKey(key: string): string {
  return /^[$\w-]{1,60}$/.test(key) ? key : quoted(key);
}

/** True when one path leads to or through the other. */
export function areRelated(a: FieldPath, b: FieldPath): boolean {
  const shared = Math.min(a.length, b.length);
  return a.slice(0, shared).every((part, i) => part === b[i]);
}

export function valueAt(value: unknown, path: FieldPath): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string | number, unknown>)[part];
  }
  return here;
}
