import { expect, test } from 'vitest';
import { isAtLeast, readSpecVersion, specVersions } from './spec-version.ts';

test('every known version reads as itself', () => {
  for (const version of specVersions) expect(readSpecVersion(version)).toEqual({ status: 'supported', version });
});

test('leading zeros and empty suffixes do not make another version', () => {
  for (const text of ['03.5.0', '3.005.0', '3.5.0-', '3.5.0+']) {
    expect(readSpecVersion(text)).toEqual({ status: 'supported', version: '3.5.0' });
  }
});

test('a well-formed version that is not in the list is unsupported, not malformed', () => {
  for (const text of ['2.3.0', '3.5.1', '3.6.0', '3.6.0-experimental', '3.5.0+x']) {
    expect(readSpecVersion(text)).toEqual({ status: 'unsupported', version: text });
  }
});

test('anything else is malformed', () => {
  for (const text of [
    '',
    '3',
    '3.5',
    '3.5.0.0',
    'v3.5.0',
    ' 3.5.0',
    '3.5.x',
    '+3.5.0',
    '3.5.0-_',
    '3.5.99999999999999999999',
  ]) {
    expect(readSpecVersion(text).status).toBe('malformed');
  }
});

test('versions are ordered', () => {
  expect(isAtLeast('3.3.0', '3.3.0')).toBe(true);
  expect(isAtLeast('3.2.0', '3.3.0')).toBe(false);
});
