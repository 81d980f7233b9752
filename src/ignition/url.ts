// URLs as Go's net/url reads them. WHATWG's URL normalises and accepts another set. Ignition on a machine parses the
// URL with Go, so only Go's rules count.
// Which rules these are depends on the `go` line of upstream/ignition/go.mod: with 1.24 a host may have more than one
// colon, as in `http://a:b:1`; from 1.26 on Go refuses it (GODEBUG urlstrictcolons). upstream/README.md.

export interface ParsedUrl {
  /** Lower case; empty for a relative URL. */
  readonly scheme: string;
  /** What follows the scheme when it does not start with a slash. */
  readonly opaque: string;
  readonly query: string;
}

const controlCharacter = /[^ -~\u0080-\u{10ffff}]/u;
const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
/** In a host only bytes above ASCII may be escaped, and the percent sign itself. */
const forbiddenHostEscape = /%(?![89A-Fa-f][0-9A-Fa-f]|25)/;
const forbiddenInHost = /[^\u0080-\u{10ffff}0-9A-Za-z!$&'()*+,;=:[\]<>"%._~-]/u;
const forbiddenInUserInfo = /[^0-9A-Za-z._:~!$&'()*+,;=%@-]/;

/** Undefined when Go would not parse the text. */
export function parseUrl(text: string): ParsedUrl | undefined {
  const [main, fragment] = cut(text, '#');
  if (controlCharacter.test(main) || main.startsWith(':') || brokenEscape.test(fragment)) return undefined;

  const name = scheme.exec(main)?.[1] ?? '';
  const afterScheme = name === '' ? main : main.slice(name.length + 1);
  const [rest, query] = cut(afterScheme, '?');
  const parsed = { scheme: name.toLowerCase(), opaque: '', query };

  if (!rest.startsWith('/')) {
    if (name !== '') return { ...parsed, opaque: rest };
    if (cut(rest, '/')[0].includes(':')) return undefined;
  }
  const hasAuthority = rest.startsWith('//') && (name !== '' || !rest.startsWith('///'));
  const [authority, path] = hasAuthority ? splitBefore(rest.slice(2), '/') : ['', rest];
  if (!isAuthority(authority) || brokenEscape.test(path)) return undefined;
  return parsed;
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const userInfo = at < 0 ? '' : authority.slice(0, at);
  return !forbiddenInUserInfo.test(userInfo) && !brokenEscape.test(userInfo) && isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) return false;
  if (bracket === 0) {
    const end = host.lastIndexOf(']');
    return end > 0 && isPort(host.slice(end + 1)) && isIpLiteral(host.slice(1, end));
  }
  const colon = host.lastIndexOf(':');
  return (colon < 0 || isPort(host.slice(colon))) && isHostText(host);
}

function isHostText(text: string): boolean {
  return !forbiddenInHost.test(text) && !forbiddenHostEscape.test(text);
}

function isPort(text: string): boolean {
  return /^(?::[0-9]*)?$/.test(text);
}

/** An IPv6 address, perhaps with a zone after `%25`. */
function isIpLiteral(text: string): boolean {
  const zoneStart = text.indexOf('%25');
  const address = zoneStart < 0 ? text : text.slice(0, zoneStart);
  const zone = zoneStart < 0 ? undefined : text.slice(zoneStart + 3);
  // An escape cannot become part of an address, so the rules of plain hosts need no repeating for it.
  if (!URL.canParse(`http://[${address}]`)) return false;
  return zone === undefined || (zone !== '' && isZone(zone));
}

/** Stricter about escapes than about plain characters: an escape may only spell a character that a host may contain. */
function isZone(zone: string): boolean {
  const plain = zone.replace(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return escape === '%25' || /[ 0-9A-Za-z!$&'()*+,;=:[\]<>"._~-]/.test(character) ? '' : '%';
  });
  return !plain.includes('%') && !forbiddenInHost.test(plain);
}

/** The first value of a query parameter, or undefined when the query has none of that name. */
export function queryParameter(query: string, name: string): string | undefined {
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key, value] = cut(pair, '=');
    if (brokenEscape.test(key) || brokenEscape.test(value)) continue;
    if (unescapeQuery(key) === name) return unescapeQuery(value);
  }
  return undefined;
}

function unescapeQuery(text: string): string {
  const decode = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  return text.replace(/\+/g, ' ').replace(/%([0-9A-Fa-f]{2})/g, decode);
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function splitBefore(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}
