import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { specVersions } from '../ignition/spec-version.ts';
import { negotiateSpec } from './accept.ts';

const ignition = (version: string, more = ''): string =>
  `application/vnd.coreos.ignition+json;version=${version}${more}`;

describe('the spec of an answer', () => {
  test.each([
    // What the real clients send.
    [`${ignition('3.5.0')}, */*;q=0.1`, '3.5.0'],
    [`${ignition('3.2.0')}, */*;q=0.1`, '3.2.0'],
    [ignition('3.0.0'), '3.0.0'],
    [ignition('3.1.0'), '3.1.0'],
    [ignition('3.3.0'), '3.3.0'],
    [ignition('3.4.7'), '3.4.0'],
    [ignition('3.6.0'), '3.5.0'],
    [ignition('3.99.0'), '3.5.0'],
    [ignition('3.6.0-experimental'), '3.5.0'],
    [undefined, '3.5.0'],
    ['', '3.5.0'],
    ['*/*', '3.5.0'],
    ['text/html,application/xhtml+xml;q=0.9', '3.5.0'],
    ['application/vnd.coreos.ignition+json', '3.5.0'],
    ['application/vnd.coreos.ignition+json; version=new', '3.5.0'],
    ['APPLICATION/VND.CoreOS.Ignition+JSON ; Version=3.1.0', '3.1.0'],
    ['application/vnd.coreos.ignition+json;version="3.2.0"', '3.2.0'],
    // The most preferred one decides, wherever it stands; the first among equals.
    [`${ignition('3.1.0', ';q=0.5')}, ${ignition('3.4.0')}`, '3.4.0'],
    [`${ignition('3.1.0')}, ${ignition('3.4.0')}`, '3.1.0'],
    [`${ignition('2.4.0', ';q=0')}, ${ignition('3.2.0', ';q=0.2')}`, '3.2.0'],
  ])('%s is answered in %s', (accept, version) => {
    expect(negotiateSpec(accept)).toEqual({ status: 'spec', version });
  });

  test.each([
    [ignition('2.2.0'), '2.2.0'],
    [`${ignition('2.4.0')}, application/vnd.coreos.ignition+json;version=1; q=0.5, */*; q=0.1`, '2.4.0'],
    [ignition('4.0.0'), '4.0.0'],
    [`${ignition('4.0.0')}, ${ignition('3.1.0', ';q=0.9')}`, '4.0.0'],
    [ignition('1.0.0'), '1.0.0'],
  ])('%s is refused, because %s is no spec of ours', (accept, asked) => {
    expect(negotiateSpec(accept)).toEqual({ status: 'unsupported', asked });
  });

  test('no header, however strange, is anything else than a spec of ours or a refusal', () => {
    const pieces = fc.constantFrom(
      ',',
      ';',
      '=',
      ' ',
      'q',
      '"',
      '*',
      '/',
      'version',
      ignition('3.3.0'),
      'é',
      '\t',
      '2.2.0',
      '999999999999',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 200 }),
          fc.array(pieces).map((list) => list.join('')),
        ),
        (accept) => {
          const result = negotiateSpec(accept);
          if (result.status === 'spec') expect(specVersions).toContain(result.version);
          else expect(result.asked).not.toMatch(/^3\./);
        },
      ),
    );
  });

  test('a header as long as one may be takes no time', () => {
    const started = performance.now();
    for (const piece of [',', ';', '=', 'a;q=0.', `${ignition('3.')},`, 'version=3.1.0;']) {
      negotiateSpec(piece.repeat(Math.ceil(16_384 / piece.length)));
    }
    expect(performance.now() - started).toBeLessThan(500);
  });
});
