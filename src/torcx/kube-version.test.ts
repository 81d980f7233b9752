import { describe, expect, test } from 'vitest';
import { minorOf, tagOf, versionOfTag } from './kube-version.ts';

describe('a Kubernetes version', () => {
  test.each([
    ['v1.9.6+coreos.0', '1.9'],
    ['vv1.10.2', '1.10'],
    ['1.8.4-beta.1+x', '1.8'],
  ])('%s has the minor %s', (version, minor) => {
    expect(minorOf(version)).toBe(minor);
  });

  test.each(['', '1.9', 'v1', '1.9.x', '1.2.3.4', 'latest'])('%j has none', (version) => {
    expect(() => minorOf(version)).toThrow(/does not begin with three numbers/);
  });

  test('every + of a version is a _ of a tag, and back', () => {
    expect(tagOf('v1.8.4+a+b')).toBe('v1.8.4_a_b');
    expect(versionOfTag('v1.8.4_a_b')).toBe('v1.8.4+a+b');
    for (const bad of ['', 'v1 2', 'v1\nEVIL=1', '-v1', '$(x)', 'v'.repeat(129)])
      expect(() => tagOf(bad)).toThrow(/tag/);
  });
});
