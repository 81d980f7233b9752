// A line of authorized_keys (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"): optional options, type, base64 blob, comment.
// The blob is read to its last byte (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4): a key that was cut while pasting is
// found here and not when a login fails.
type Part = 'key32' | 'rsa' | { readonly curve: string; readonly pointBytes: number } | 'application';

const curves = {
  nistp256: { curve: 'nistp256', pointBytes: 65 },
  nistp384: { curve: 'nistp384', pointBytes: 97 },
  nistp521: { curve: 'nistp521', pointBytes: 133 },
} as const;

const layouts = new Map<string, readonly Part[]>([
  ['ssh-ed25519', ['key32']],
  ['ssh-rsa', ['rsa']],
  ['ecdsa-sha2-nistp256', [curves.nistp256]],
  ['ecdsa-sha2-nistp384', [curves.nistp384]],
  ['ecdsa-sha2-nistp521', [curves.nistp521]],
  ['sk-ssh-ed25519@openssh.com', ['key32', 'application']],
  ['sk-ecdsa-sha2-nistp256@openssh.com', [curves.nistp256, 'application']],
]);

export const sshKeyTypes: readonly string[] = [...layouts.keys()];

const rsaBitsMin = 2048;

/** The keys in the text, one a line; blank lines and comments are none. */
export function sshKeyLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** What is wrong with the first bad line, or undefined. */
export function sshKeysMistake(text: string): string | undefined {
  if (holdsPrivateKey(text)) return 'is a private key; give the public one, from the file that ends in .pub';
  const lines = sshKeyLines(text);
  if (lines.length === 0) return 'holds no key';
  for (const [i, line] of lines.entries()) {
    const mistake = sshKeyMistake(line);
    if (mistake !== undefined) return lines.length === 1 ? mistake : `key ${i + 1}: ${mistake}`;
  }
  return undefined;
}

export function holdsPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text);
}

function sshKeyMistake(line: string): string | undefined {
  const words = splitOutsideQuotes(line);
  const at = words.findIndex((word, i) => i < 2 && layouts.has(word));
  const type = words[at] ?? '';
  const layout = layouts.get(type);
  if (layout === undefined) return unknownTypeMistake(words[0] ?? '');
  const encoded = words[at + 1];
  if (encoded === undefined) return `has the type ${type} and no key after it`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return 'has a key that is not base64';
  return blobMistake(Buffer.from(encoded, 'base64'), type, layout);
}

function unknownTypeMistake(word: string): string {
  if (word === 'ssh-dss') return 'is a DSA key, which OpenSSH no longer accepts';
  if (word.includes('-cert-v01@')) return 'is a certificate; give the public key itself';
  return 'does not begin with a type of SSH public key';
}

/** Words of a line; blanks within double quotes do not separate (`command="do it",no-pty ssh-ed25519 …`). */
function splitOutsideQuotes(line: string): readonly string[] {
  return line.match(/(?:"(?:\\.|[^"\\])*"|[^\s"]|")+/g) ?? [];
}

function blobMistake(blob: Buffer, type: string, layout: readonly Part[]): string | undefined {
  const fields = blobFields(blob);
  if (fields === undefined) return 'is cut off or damaged';
  const [declared, ...rest] = fields;
  if (declared?.toString('latin1') !== type) return `says ${type} but holds another type of key`;
  for (const part of layout) {
    const mistake = partMistake(part, rest);
    if (mistake !== undefined) return mistake;
  }
  return rest.length === 0 ? undefined : 'has something after the key that does not belong to it';
}

/** Takes its fields from the front of `rest`. */
function partMistake(part: Part, rest: Buffer[]): string | undefined {
  const damaged = 'is cut off or damaged';
  if (part === 'application') return rest.shift() === undefined ? damaged : undefined;
  if (part === 'key32') return rest.shift()?.length === 32 ? undefined : damaged;
  if (part === 'rsa') {
    const [exponent, modulus] = rest.splice(0, 2);
    if (exponent === undefined || modulus === undefined) return damaged;
    const bits = bitLength(modulus);
    return bits >= rsaBitsMin ? undefined : `is an RSA key of ${bits} bits; ${rsaBitsMin} are the least that is safe`;
  }
  const [curve, point] = rest.splice(0, 2);
  const isRight = curve?.toString('latin1') === part.curve && point?.length === part.pointBytes && point[0] === 4;
  return isRight ? undefined : damaged;
}

/** The length-prefixed strings the blob consists of, or undefined where they do not add up. */
function blobFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (blob.length - at < 4) return undefined;
    const length = blob.readUInt32BE(at);
    if (length > blob.length - at - 4) return undefined;
    fields.push(blob.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

function bitLength(mpint: Buffer): number {
  const start = mpint.findIndex((byte) => byte !== 0);
  return start === -1 ? 0 : (mpint.length - start) * 8 - Math.clz32(mpint[start] ?? 0) + 24;
}
