// Data URLs (RFC 2397) as Ignition reads them: stricter than browsers, so that what passes here passes on a machine.
// Lower-case `data:`, a known media type or none, mandatory comma, padded standard base64, two hex digits after `%`.

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
const plainParameter = new RegExp(`;(?:${token})+=((?:${token})+)`, 'y');
const quotedParameter = new RegExp(
  String.raw`;(?:${token})+="((?:[\x00-\x21\x23-\x5b\x5d-\x7f]|\\[\x00-\x7f])*)"`,
  'y',
);
/** What may stand between the quotes: the escapes of a Go string literal, no raw newline, no surrogate halves. */
const goString =
  /^(?:[^\\\n]|\\(?:[abfnrtv\\"]|[0-3][0-7]{2}|x[0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)(?:(?<!U0000)[0-9a-fA-F]|(?<=U0000)(?![dD][89a-fA-F])[0-9a-fA-F])[0-9a-fA-F]{3}))*$/;
const plainPayload = /^[!$-;=?-Z_a-z~]*$/;
const escapes = /%(?![0-9a-fA-F]{2})/;
const base64Payload = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Text or bytes as a data URL, always base64; media type and character set as other Ignition writers put them. */
export function dataUrl(content: string | Uint8Array): string {
  if (typeof content === 'string')
    return `data:text/plain;charset=utf-8;base64,${Buffer.from(content).toString('base64')}`;
  const base64 = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
  return `data:application/octet-stream;base64,${base64}`;
}

export function decodeDataUrl(url: string): DecodedDataUrl {
  if (!url.startsWith('data:')) return malformed('it does not start with "data:"');
  let at = 'data:'.length;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(url);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  const type = match(mediaType)?.[0];
  let isBase64 = false;
  while (url[at] === ';' && !isBase64) {
    if (match(base64Marker) !== null) {
      isBase64 = true;
      continue;
    }
    const quoted = match(quotedParameter);
    if (quoted !== null) {
      if (!goString.test(quoted[1] ?? '')) return malformed('a quoted parameter has an unknown escape');
      continue;
    }
    const plain = match(plainParameter);
    if (plain === null) return malformed(`the parameter at character ${at + 1} is not attribute=value or base64`);
    if (escapes.test(plain[1] ?? '')) return malformed('a % in a parameter is not followed by two hex digits');
  }
  if (url[at] !== ',') return malformed('the comma before the data is missing, or the media type is not a known one');

  const payload = url.slice(at + 1);
  const bytes = isBase64 ? decodeBase64(payload) : decodePercent(payload);
  return typeof bytes === 'string' ? malformed(bytes) : { status: 'decoded', url: { mediaType: type, bytes } };
}

function decodeBase64(payload: string): Uint8Array | string {
  if (!base64Payload.test(payload)) return 'the data is not padded standard base64';
  return Buffer.from(payload, 'base64');
}

function decodePercent(payload: string): Uint8Array | string {
  if (!plainPayload.test(payload)) return 'the data has a character that must be written as %XX';
  if (escapes.test(payload)) return 'a % in the data is not followed by two hex digits';
  const latin1 = payload.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin1, 'latin1');
}

function malformed(reason: string): DecodedDataUrl {
  return { status: 'malformed', reason };
}
