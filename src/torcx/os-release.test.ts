import { describe, expect, test } from 'vitest';
import { parseOsRelease } from './os-release.ts';

describe('os-release', () => {
  const path = '/usr/lib/os-release';
  test('VERSION_ID and COREOS_BOARD count, VERSION with its build does not', () => {
    const text = 'VERSION=1662.0.0+2018-01-19-1643\nVERSION_ID=1662.0.0\nCOREOS_BOARD="amd64-usr"\n';
    expect(parseOsRelease(path, text, 'x64')).toEqual({ version: '1662.0.0', board: 'amd64-usr' });
  });

  test('a missing board follows from the CPU, where that is known', () => {
    expect(parseOsRelease(path, 'VERSION_ID=1.2.3\n', 'arm64')).toMatchObject({ board: 'arm64-usr' });
    expect(() => parseOsRelease(path, 'VERSION_ID=1.2.3\n', 'mips')).toThrow(/no board for mips/);
  });

  test.each(['', 'VERSION_ID=\n', 'VERSION_ID="12"\n', 'VERSION_ID=../x\n'])('%j is refused', (text) => {
    expect(() => parseOsRelease(path, text, 'x64')).toThrow(/VERSION_ID/);
  });
});
