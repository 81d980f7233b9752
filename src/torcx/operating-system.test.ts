import { describe, expect, test } from 'vitest';
import { compareOsVersions, isOsVersion, parseOsRelease } from './operating-system.ts';

describe('an OS version', () => {
  test.each([
    ['1520.3.0', '1520.3.0', 0],
    ['1520.2.9', '1520.3.0', -1],
    ['1520.10.0', '1520.9.0', 1],
    ['1520.3.0-x', '1520.3.0', -1],
    ['1520.3.0-beta.2', '1520.3.0-beta.10', -1],
    ['1520.3.0-beta', '1520.3.0-1', 1],
    ['1520.3.0+a', '1520.3.0+b', 0],
    ['99999999999999999999.0.0', '1520.3.0', 1],
  ])('%s against %s', (left, right, order) => {
    expect(Math.sign(compareOsVersions(left, right))).toBe(order);
    expect(Math.sign(compareOsVersions(right, left))).toBe(order === 0 ? 0 : -order);
  });

  test.each(['', '1520', '1520.3', '1520.3.0/..', '../../evil', '1520.3.0\n', ' 1520.3.0', `1.1.${'1'.repeat(80)}`])(
    '%j is none',
    (text) => {
      expect(isOsVersion(text)).toBe(false);
    },
  );
});

describe('os-release', () => {
  const path = '/usr/lib/os-release';
  test('VERSION_ID and COREOS_BOARD count, VERSION with its build does not', () => {
    const text = 'VERSION=1662.0.0+2018-01-19-1643\nVERSION_ID=1662.0.0\nCOREOS_BOARD="amd64-usr"\n';
    expect(parseOsRelease(path, text, 'x64')).toEqual({ hasTorcx: true, version: '1662.0.0', board: 'amd64-usr' });
  });

  test('a system that torcx is not part of has its name, and its version may be anything', () => {
    const text = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n';
    expect(parseOsRelease(path, text, 'mips')).toEqual({ hasTorcx: false, name: 'Debian GNU/Linux 12 (bookworm)' });
    expect(parseOsRelease(path, 'ID=void\n', 'x64')).toEqual({ hasTorcx: false, name: 'void' });
    expect(parseOsRelease(path, 'ID=flatcar\nVERSION_ID=3510.2.0\n', 'x64')).toMatchObject({ hasTorcx: true });
  });

  test('a missing board follows from the CPU, where that is known', () => {
    expect(parseOsRelease(path, 'VERSION_ID=1.2.3\n', 'arm64')).toMatchObject({ board: 'arm64-usr' });
    expect(() => parseOsRelease(path, 'VERSION_ID=1.2.3\n', 'mips')).toThrow(/no board for mips/);
  });

  test.each(['', 'VERSION_ID=\n', 'VERSION_ID="12"\n', 'VERSION_ID=../x\n'])('%j is refused', (text) => {
    expect(() => parseOsRelease(path, text, 'x64')).toThrow(/VERSION_ID/);
  });
});
