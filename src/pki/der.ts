// A strict reader of DER (X.690 §8, §10): one TLV, its children, and the few primitive types signing requests use.
// Everything that a second reader (Go, OpenSSL) could understand differently is an error, never a guess: indefinite or
// padded lengths, trailing bytes, padded integers. The approver of signing requests relies on it.

export interface DerNode {
  /** The identifier octet: class, constructed bit and number (high-tag-number form is refused). */
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag, length and content: what a signature covers. */
  readonly raw: Uint8Array;
}

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export class DerError extends Error {}

/** Reads `bytes` as exactly one value. */
export function readDer(bytes: Uint8Array): DerNode {
  const { node, end } = readAt(bytes, 0);
  if (end !== bytes.length) throw new DerError(`${bytes.length - end} bytes too many after the value`);
  return node;
}

export function childrenOf(node: DerNode): DerNode[] {
  if ((node.tag & 0x20) === 0) throw new DerError(`tag ${hex(node.tag)} holds no parts`);
  const children: DerNode[] = [];
  for (let offset = 0; offset < node.content.length; ) {
    const { node: child, end } = readAt(node.content, offset);
    children.push(child);
    offset = end;
  }
  return children;
}

export function expectTag(node: DerNode | undefined, tag: number, what: string): DerNode {
  if (node === undefined) throw new DerError(`${what} is missing`);
  if (node.tag !== tag) throw new DerError(`${what} has tag ${hex(node.tag)} instead of ${hex(tag)}`);
  return node;
}

/** The parts of a SEQUENCE. */
export function sequenceOf(node: DerNode | undefined, what: string): DerNode[] {
  return childrenOf(expectTag(node, derTags.sequence, what));
}

export function oidOf(node: DerNode | undefined, what: string): string {
  const { content } = expectTag(node, derTags.oid, what);
  const arcs: bigint[] = [];
  let arc = 0n;
  let fresh = true;
  for (const octet of content) {
    if (fresh && octet === 0x80) throw new DerError(`${what} has a padded arc`);
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    fresh = (octet & 0x80) === 0;
    if (!fresh) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first] = arcs;
  if (!fresh || first === undefined) throw new DerError(`${what} is cut off`);
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...arcs.slice(1)].join('.');
}

/** A non-negative INTEGER. */
export function integerOf(node: DerNode | undefined, what: string): bigint {
  const { content } = expectTag(node, derTags.integer, what);
  const [first, second] = content;
  if (first === undefined || (first & 0x80) !== 0) throw new DerError(`${what} is empty or negative`);
  if (first === 0 && second !== undefined && (second & 0x80) === 0) throw new DerError(`${what} is padded`);
  return BigInt(`0x${Buffer.from(content).toString('hex')}`);
}

export function booleanOf(node: DerNode | undefined, what: string): boolean {
  const { content } = expectTag(node, derTags.boolean, what);
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError(`${what} is not a boolean`);
  return content[0] === 0xff;
}

/** The bits of a BIT STRING; `bits` counts the ones that are used. */
export function bitStringOf(node: DerNode | undefined, what: string): { bytes: Uint8Array; bits: number } {
  const { content } = expectTag(node, derTags.bitString, what);
  const unused = content[0];
  if (unused === undefined || unused > 7 || (content.length === 1 && unused > 0)) {
    throw new DerError(`${what} is not a bit string`);
  }
  const bytes = content.subarray(1);
  const last = bytes.at(-1) ?? 0;
  if ((last & ((1 << unused) - 1)) !== 0) throw new DerError(`${what} has bits set that it does not count`);
  return { bytes, bits: bytes.length * 8 - unused };
}

function readAt(bytes: Uint8Array, start: number): { node: DerNode; end: number } {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined) throw new DerError('the value is cut off');
  if ((tag & 0x1f) === 0x1f) throw new DerError('a tag number above 30');
  const { length, offset } = first < 0x80 ? { length: first, offset: start + 2 } : longLength(bytes, start + 1);
  const end = offset + length;
  if (end > bytes.length) throw new DerError('the value is cut off');
  return { node: { tag, content: bytes.subarray(offset, end), raw: bytes.subarray(start, end) }, end };
}

function longLength(bytes: Uint8Array, start: number): { length: number; offset: number } {
  const count = (bytes[start] ?? 0) & 0x7f;
  if (count === 0) throw new DerError('an indefinite length');
  if (count > 3) throw new DerError('a length above 16 MB');
  const offset = start + 1 + count;
  if (offset > bytes.length) throw new DerError('the value is cut off');
  const length = bytes.subarray(start + 1, offset).reduce((sum, octet) => sum * 256 + octet, 0);
  if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a padded length');
  return { length, offset };
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`;
}
