import { describe, expect, test } from 'vitest';
import { compareOsVersions, isOsVersion } from './os-version.ts';

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
