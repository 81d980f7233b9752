import { expect, test } from 'vitest';
import { inlineFile, readInlineContents } from './inline-contents.ts';
import { reportVerdict } from './report.ts';
import { validate } from './validate.ts';

test.each([false, true])('an inline file is valid and gives its bytes back (gzip: %s)', (gzip) => {
  const file = inlineFile({ path: '/etc/a', content: 'grün\n', mode: 0o600, user: 'core', gzip });
  expect(reportVerdict(validate({ ignition: { version: '3.5.0' }, storage: { files: [file] } }))).toBe('fine');
  const read = readInlineContents(file.contents ?? {});
  expect(read.status === 'inline' && Buffer.from(read.bytes).toString()).toBe('grün\n');
});

test('no source is an empty file; a source elsewhere is not fetched', () => {
  expect(readInlineContents({})).toEqual({ status: 'inline', bytes: new Uint8Array() });
  expect(readInlineContents({ source: 'https://a' })).toEqual({ status: 'remote', source: 'https://a' });
});

test('data that cannot be decoded or unpacked says so', () => {
  expect(readInlineContents({ source: 'data:;base64,YQ' }).status).toBe('malformed');
  expect(readInlineContents({ source: 'data:,plain', compression: 'gzip' }).status).toBe('malformed');
});
