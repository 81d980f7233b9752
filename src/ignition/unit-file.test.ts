import { expect, test } from 'vitest';
import { readUnit } from './unit-file.ts';

test('sections count when they have options', () => {
  const read = readUnit('[Unit]\nDescription=a\n[Empty]\n# [Hidden]\n[Install]\nWantedBy=b\n');
  expect(read).toEqual({ status: 'read', sectionsWithOptions: new Set(['Unit', 'Install']) });
});

test('a value goes on after a backslash, so what looks like a section there is not one', () => {
  expect(readUnit('[Service]\nExecStart=/bin/sh \\\n[Install] \\\n-c\n')).toEqual({
    status: 'read',
    sectionsWithOptions: new Set(['Service']),
  });
});

test.each([
  ['[Unit', 'closing bracket'],
  ['[Unit] x', 'text after [Unit]'],
  ['[Unit]\nDescription', 'no "="'],
  [`[Unit]\nA=${'x'.repeat(3000)}`, 'longer than 2048 bytes'],
])('%j is refused', (contents, reason) => {
  const read = readUnit(contents);
  expect(read.status === 'malformed' && read.reason).toContain(reason);
});
