import { expect, test } from 'vitest';
import { releaseErrors } from '../errors.ts';
import { checksumFor, officialSources } from './official-binaries.ts';

const digest = 'a'.repeat(64);
const other = 'b'.repeat(64);
const url = 'https://example.test/v1/thing.tgz';

test.each([
  ['a file with nothing but the digest', `${digest}\n`],
  ['a line that names the file', `${digest}  thing.tgz\n`],
  ['one line among others', `${other}  thing2.tgz\n${digest} *thing.tgz\n`],
  ['a name with a folder before it', `${other}  x\n${digest}  ./thing.tgz\n`],
])('the checksum is found in %s', (_, content) => {
  expect(checksumFor(content, url)).toBe(digest);
});

test.each([
  ['several lines and none is ours', `${other}  a\n${other}  b\n`],
  ['an error page', '<html>Not Found</html>'],
  ['nothing', ''],
])('no checksum is taken from %s', (_, content) => {
  expect(() => checksumFor(content, url)).toThrow(expect.objectContaining({ code: releaseErrors.CHECKSUM.code }));
});

test('everything official comes over TLS, and its checksum from the same place', () => {
  for (const source of Object.values(officialSources)) {
    expect(new URL(source.url).protocol).toBe('https:');
    expect(new URL(source.checksumUrl).host).toBe(new URL(source.url).host);
  }
});
