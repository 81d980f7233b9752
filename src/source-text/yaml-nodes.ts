// Where the fields of a parsed YAML document stand in its text.
import { type Document, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import type { FieldPath } from './field-path.ts';

/** Offsets in the text. The key is absent for list items and the root, the value where nothing is written. */
export interface FieldOffsets {
  readonly key?: number;
  readonly value?: number;
}

/** Undefined where the document has no such field. Aliases are not followed. */
export function fieldOffsets(document: Document.Parsed, path: FieldPath): FieldOffsets | undefined {
  let key: unknown;
  let value: unknown = document.contents;
  for (const part of path) {
    if (isSeq(value)) {
      [key, value] = [undefined, value.items[Number(part)]];
    } else if (isMap(value)) {
      const pair = value.items.find((one) => isScalar(one.key) && String(one.key.value) === String(part));
      [key, value] = [pair?.key, pair?.value];
    } else {
      return undefined;
    }
    if (!isNode(key) && !isNode(value)) return undefined;
  }
  const keyOffset = offsetOf(key);
  const valueOffset = offsetOf(value);
  return {
    ...(keyOffset === undefined ? {} : { key: keyOffset }),
    ...(valueOffset === undefined ? {} : { value: valueOffset }),
  };
}

/** The type says that a parsed node has a range; the library's own code also makes nodes without one. */
function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
