// Rules for everything that is fetched: its URL, compression, hash and headers, and the proxies on the way.
import { decodeDataUrl } from '../data-url.ts';
import type { ConfigFinding } from '../problems.ts';
import { finding } from '../problems.ts';
import type { Infer } from '../schema.ts';
import { configReferences, httpHeader, proxy, reference, resource, tls, verification } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';
import { isAtLeast } from '../spec-version.ts';
import type { ParsedUrl } from '../url.ts';
import { parseUrl, queryParameter } from '../url.ts';
import { rule } from './rule.ts';

type AnyResource = Infer<typeof resource>;

/** Schemes and the spec that brought them. */
const schemes: Readonly<Record<string, SpecVersion>> = {
  http: '3.0.0',
  https: '3.0.0',
  tftp: '3.0.0',
  s3: '3.0.0',
  data: '3.0.0',
  gs: '3.2.0',
  arn: '3.4.0',
};

/** Hash functions, their length in hex digits and the spec that brought them. */
const hashes: Readonly<Record<string, { readonly digits: number; readonly since: SpecVersion }>> = {
  sha512: { digits: 128, since: '3.0.0' },
  sha256: { digits: 64, since: '3.1.0' },
};

function* sourceIsFetchable({ source }: AnyResource, spec: SpecVersion): Iterable<ConfigFinding> {
  if (source === undefined || source === '') return;
  const url = parseUrl(source);
  if (url === undefined) {
    yield finding('BAD_URL', ['source']);
    return;
  }
  const since = Object.hasOwn(schemes, url.scheme) ? schemes[url.scheme] : undefined;
  if (since === undefined || !isAtLeast(spec, since)) yield finding('BAD_SCHEME', ['source'], url.scheme || 'none');
  else if (url.scheme === 'data') yield* dataUrlDecodes(source);
  else if (url.scheme === 'arn' && !isS3Arn(url)) yield finding('BAD_S3_ARN', ['source']);
  else if (url.scheme === 's3' || url.scheme === 'arn') yield* s3VersionIsNamed(url);
}

function* dataUrlDecodes(source: string): Iterable<ConfigFinding> {
  const decoded = decodeDataUrl(source);
  if (decoded.status === 'malformed') yield finding('BAD_DATA_URL', ['source'], decoded.reason);
}

function* s3VersionIsNamed(url: ParsedUrl): Iterable<ConfigFinding> {
  if (queryParameter(url.query, 'versionId') === '') yield finding('BAD_S3_VERSION', ['source']);
}

/** arn:partition:s3:region:account:bucket/key, or …:accesspoint/name/object. */
function isS3Arn(url: ParsedUrl): boolean {
  const sections = url.opaque.split(':');
  const [, service] = sections;
  if (sections.length < 5 || service !== 's3') return false;
  const resourcePart = sections.slice(4).join(':');
  const slashes = url.opaque.split('/').length - 1;
  return slashes >= (resourcePart.startsWith('accesspoint/') ? 2 : 1);
}

function* compressionIsKnown({ compression }: AnyResource): Iterable<ConfigFinding> {
  if (compression !== undefined && compression !== '' && compression !== 'gzip') {
    yield finding('BAD_COMPRESSION', ['compression']);
  }
}

function* hashHasSource(value: AnyResource): Iterable<ConfigFinding> {
  if (value.verification?.hash !== undefined && value.source === undefined) {
    yield finding('HASH_WITHOUT_SOURCE', ['verification', 'hash']);
  }
}

function* headersGoToHttp({ httpHeaders = [], source }: AnyResource): Iterable<ConfigFinding> {
  if (httpHeaders.length === 0) return;
  const scheme = source === undefined || source === '' ? undefined : parseUrl(source)?.scheme;
  if (scheme !== 'http' && scheme !== 'https') yield finding('HEADERS_WITHOUT_HTTP', ['httpHeaders']);
}

function* headerIsComplete({ name, value }: Infer<typeof httpHeader>): Iterable<ConfigFinding> {
  if (name === '') yield finding('HEADER_WITHOUT_NAME', ['name']);
  // An absent value is a request to delete an inherited header.
  if (value === '') yield finding('HEADER_WITHOUT_VALUE', ['value']);
}

function* hashIsKnown({ hash }: Infer<typeof verification>, spec: SpecVersion): Iterable<ConfigFinding> {
  if (hash === undefined) return;
  const dash = hash.indexOf('-');
  if (dash < 0) {
    yield finding('BAD_HASH', ['hash']);
    return;
  }
  const name = hash.slice(0, dash);
  const known = Object.hasOwn(hashes, name) ? hashes[name] : undefined;
  if (known === undefined || !isAtLeast(spec, known.since)) yield finding('UNKNOWN_HASH', ['hash']);
  else if (Buffer.byteLength(hash.slice(dash + 1)) !== known.digits) yield finding('WRONG_HASH_LENGTH', ['hash']);
}

function* sourcesAreGiven(list: string, items: readonly AnyResource[] = []): Iterable<ConfigFinding> {
  for (const [index, { source }] of items.entries()) {
    if (source === undefined || source === '') yield finding('SOURCE_REQUIRED', [list, index]);
  }
}

function* proxyIsHttp(value: Infer<typeof proxy>): Iterable<ConfigFinding> {
  for (const name of ['httpProxy', 'httpsProxy'] as const) {
    const text = value[name];
    if (text === undefined) continue;
    const scheme = parseUrl(text)?.scheme;
    if (scheme === undefined) yield finding('BAD_URL', [name]);
    else if (scheme !== 'http' && scheme !== 'https') yield finding('BAD_PROXY', [name]);
    else if (scheme === 'http' && name === 'httpsProxy') yield finding('INSECURE_PROXY', [name]);
  }
}

export const resourceRules = [
  ...[resource, reference].flatMap((type) => [
    rule(type, compressionIsKnown),
    rule(type, sourceIsFetchable),
    rule(type, headersGoToHttp),
  ]),
  rule(resource, hashHasSource),
  rule(reference, (value, spec) => (isAtLeast(spec, '3.1.0') ? hashHasSource(value) : [])),
  rule(httpHeader, headerIsComplete),
  rule(verification, hashIsKnown),
  rule(configReferences, ({ merge }, spec) => (isAtLeast(spec, '3.1.0') ? sourcesAreGiven('merge', merge) : [])),
  rule(tls, ({ certificateAuthorities }) => sourcesAreGiven('certificateAuthorities', certificateAuthorities)),
  rule(proxy, proxyIsHttp),
];
