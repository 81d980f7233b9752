// Data URLs (RFC 2397) as Ignition reads them: stricter than browsers, so that what passes here passes on a machine.
// Lower-case `data:`, a known media type or none, mandatory comma, padded standard base64, two hex digits after `%`.
// Payloads run to many megabytes: no pattern here may repeat a group over one, which would exhaust the stack.

export interface DataUrl {
  /** `type/subtype`, or undefined when the URL names none. */
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
}

export type DecodedDataUrl =
  | { readonly status: 'decoded'; readonly url: DataUrl }
  | { readonly status: 'malformed'; readonly reason: string };

const token = String.raw`[!#$%&'*+.0-9A-Z^_\`a-z{|}~-]`;
const knownType = '(?:text|image|audio|video|application|message|multipart)';
const mediaType = new RegExp(`(?:${knownType}${token}*|[xX]-${token}*)/${token}*`, 'y');
const base64Marker = /;base64(?=,)/y;
const attribute = new RegExp(`;${token}+=`, 'y');
const plainValue = new RegExp(`${token}+`, 'y');
const brokenEscape = /%(?![0-9a-fA-F]{2})/;
const notInPayload = /[^!$-;=?-Z_a-z~]/;
const notInBase64 = /[^A-Za-z0-9+/=]/;
const notAscii = /[^\0-\x7f]/;
/** A backslash and what may follow it in a Go string literal, which is what Ignition takes a quoted value for. */
const goEscape =
  /\\(?:[abfnrtv\\"]|[0-3][0-7]{2}|x[0-9a-fA-F]{2}|(?:u|U0000)(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U00(?:0[1-9a-fA-F]|10)[0-9a-fA-F]{4})/g;

/** Text or bytes as a data URL, always base64; media type and character set as other Ignition writers put them. */
export function dataUrl(content: string | Uint8Array): string {
  if (typeof content === 'string') {
    return `data:text/plain;charset=utf-8;base64,${Buffer.from(content).toString('base64')}`;
  }
  const base64 = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
  return `data:application/octet-stream;base64,${base64}`;
}

export function decodeDataUrl(url: string): DecodedDataUrl {
  if (!url.startsWith('data:')) return malformed('it does not start with "data:"');
  const start = 'data:'.length;
  const type = matchAt(mediaType, url, start);
  const header = readParameters(url, start + (type?.length ?? 0));
  if (typeof header === 'string') return malformed(header);
  if (url[header.end] !== ',')
    return malformed('the media type is not a known one, or the comma before the data is missing');

  const payload = url.slice(header.end + 1);
  const bytes = header.isBase64 ? decodeBase64(payload) : decodePercent(payload);
  return typeof bytes === 'string' ? malformed(bytes) : { status: 'decoded', url: { mediaType: type, bytes } };
}

/** The parameters up to the comma; what is wrong with them as text. */
function readParameters(url: string, start: number): { readonly end: number; readonly isBase64: boolean } | string {
  let at = start;
  while (url[at] === ';') {
    const marker = matchAt(base64Marker, url, at);
    if (marker !== undefined) return { end: at + marker.length, isBase64: true };
    const name = matchAt(attribute, url, at);
    if (name === undefined) return `the parameter at character ${at + 1} is neither attribute=value nor base64`;
    at += name.length;
    if (url[at] === '"') {
      const end = closingQuote(url, at);
      if (end === undefined || !isGoString(url.slice(at + 1, end)))
        return 'a quoted parameter is open or badly escaped';
      at = end + 1;
      continue;
    }
    const value = matchAt(plainValue, url, at) ?? '';
    if (value === '') return `the parameter before character ${at + 1} has no value`;
    if (brokenEscape.test(value)) return 'a % in a parameter is not followed by two hex digits';
    at += value.length;
  }
  return { end: at, isBase64: false };
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function closingQuote(text: string, open: number): number | undefined {
  for (let at = open + 1; at < text.length; at += text[at] === '\\' ? 2 : 1) {
    if (text[at] === '"') return at;
  }
  return undefined;
}

function isGoString(text: string): boolean {
  return !text.includes('\n') && !notAscii.test(text) && !text.replace(goEscape, '').includes('\\');
}

function decodeBase64(payload: string): Uint8Array | string {
  const padding = payload.indexOf('=');
  const isPadded = padding < 0 || (padding >= payload.length - 2 && payload.endsWith('='));
  if (payload.length % 4 !== 0 || !isPadded || notInBase64.test(payload))
    return 'the data is not padded standard base64';
  return Buffer.from(payload, 'base64');
}

function decodePercent(payload: string): Uint8Array | string {
  if (notInPayload.test(payload)) return 'the data has a character that must be written as %XX';
  if (brokenEscape.test(payload)) return 'a % in the data is not followed by two hex digits';
  const bytes = Buffer.from(payload, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const isEscape = bytes[at] === 0x25;
    bytes[length] = isEscape ? Number.parseInt(payload.slice(at + 1, at + 3), 16) : (bytes[at] ?? 0);
    length += 1;
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

function malformed(reason: string): DecodedDataUrl {
  return { status: 'malformed', reason };
}
