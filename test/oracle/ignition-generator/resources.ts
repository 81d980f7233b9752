// URLs, hashes, headers, and the `ignition` section that refers to other configs.
import * as fc from 'fast-check';
import { specVersions } from '../../../src/ignition/spec-version.ts';
import type { Odds } from './odds.ts';
import { byName, itself, object, over } from './odds.ts';

const base64 = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));

const goodUrl = fc.oneof(
  base64.map((data) => `data:;base64,${data}`),
  base64.map((data) => `data:text/plain;charset=utf-8;base64,${data}`),
  fc.webUrl(),
  fc.constantFrom(
    'data:,',
    'data:,hello%20world',
    'http://a/x',
    'https://b:8443/y?z#f',
    'tftp://c/z',
    's3://b/k?versionId=1',
    'data:application/x-gzip;base64,H4sIAAAAAAAAAwMAAAAAAAAAAAA=',
  ),
);

const parts = ['arn:', 'aws', 's3', ':', '::', '/', 'accesspoint/', 'bucket', '?versionId=', 'v'];

/** Text that comes close to being a URL, of every scheme that has rules of its own. */
export const nearlyUrl: fc.Arbitrary<string> = fc.oneof(
  over('ab:/?#%41. ', 10),
  over('ab%41+ ,;=#"\\{é', 12).map((text) => `data:,${text}`),
  over('YQ=+/_-%', 8).map((text) => `data:text/plain;base64,${text}`),
  over(['text', 'x-', 'a', '/', ';', '=', '"', '\\', ',', 'base64', '%41', '%', 'u00e9', 'ud800'], 10).map(
    (text) => `data:${text},x`,
  ),
  over(['[', ']', ':', '::1', '@', '%25', '%41', '%c3', '%', 'a', '9', '/', '?', '#', '<', ' ', 'é'], 8).map(
    (text) => `http://${text}`,
  ),
  over(parts, 9).map((text) => `arn:aws:s3:${text}`),
  over(['b', '/', '?', '&', ';', 'versionId', '=', 'v', '%49', '+'], 8).map((text) => `s3://${text}`),
  fc.constantFrom('', 'gs://b/k', 'arn:aws:s3:::b/k', 'file:///a', 'DATA:,a', 'Http://a'),
);

export function resources(odds: Odds) {
  const { either, list, pick } = odds;
  const source = either(goodUrl, nearlyUrl);
  const hash = either(
    over('0123456789abcdefABCDEF', 128, 128).map((digits) => `sha512-${digits}`),
    fc.oneof(
      over('0123456789abcdef', 64, 63).map((digits) => `sha256-${digits}`),
      fc.constantFrom('sha512', 'md5-00', 'sha512-00', 'sha256-', '-'),
    ),
  );
  const verification = object({}, { hash });
  const headers = list(
    object({ name: pick(['a', 'A', 'X-Token', 'b'], ['']) }, { value: pick(['1', '2'], ['']) }),
    byName,
  );
  const compression = pick(['', 'gzip'], ['xz']);
  const resource = fc.oneof(
    { weight: 5, arbitrary: object({ source }, { compression, verification }) },
    {
      weight: 2,
      arbitrary: object(
        { source: pick(['http://a/x', 'https://b/y'], ['data:,', '']), httpHeaders: headers },
        { verification },
      ),
    },
    {
      weight: 1,
      arbitrary: either(fc.constant({}), object({}, { source, verification, httpHeaders: headers, compression })),
    },
  );
  const reference = fc.oneof(
    object({ source: pick(['http://a/x', 'https://b/y', 'data:,c', 'data:,d'], ['', 'e']) }, { verification }),
    object({ source: pick(['http://h/x', 'http://h/y'], ['data:,']), httpHeaders: headers }, { compression }),
    either(object({ source: fc.constant('http://i') }), object({}, { verification, source })),
  );
  const references = list(reference, ({ source = '' }: { readonly source?: string }) => source, 2);
  const ignitionSections = {
    config: object({}, { merge: references, replace: fc.oneof(fc.constant({}), resource) }),
    timeouts: object({}, { httpTotal: fc.integer({ min: -1, max: 99 }), httpResponseHeaders: fc.nat(99) }),
    security: object({}, { tls: object({}, { certificateAuthorities: references }) }),
    proxy: object(
      {},
      {
        httpProxy: either(fc.constant('http://p'), nearlyUrl),
        httpsProxy: pick(['https://p'], ['http://p', 'p', '']),
        noProxy: list(fc.constantFrom('a', 'b', '.c'), itself),
      },
    ),
  };
  const version = either(
    fc.constantFrom(...specVersions, '3.5.0', '3.4.0'),
    fc.constantFrom('3.5.1', '2.3.0', '3.9.0', '3.5', '', '03.5.0', '3.5.0+'),
  );
  return { resource, source, version, ignitionSections };
}
