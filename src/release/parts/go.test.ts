import { describe, expect, test } from 'vitest';
import { chooseGo, compareVersions, parseModules } from './go.ts';

const go = (version: string, setting = 'auto') => ({ program: '/usr/bin/go', version, setting });

describe('which Go compiles', () => {
  test.each([
    ['a newer one is used as it is', go('1.27.0', 'local'), { status: 'ready', version: '1.27.0', toolchain: 'local' }],
    ['the same one is used as it is', go('1.26.6'), { status: 'ready', version: '1.26.6', toolchain: 'local' }],
    ['a release candidate counts by its numbers', go('1.27rc1'), { status: 'ready', toolchain: 'local' }],
    [
      'an older one fetches the needed one',
      go('1.22.1'),
      { status: 'ready', version: '1.26.6', toolchain: 'go1.26.6' },
    ],
    ['also when a name with +auto is set', go('1.22.1', 'go1.22.1+auto'), { status: 'ready', toolchain: 'go1.26.6' }],
    ['but not against its setting', go('1.22.1', 'local'), { status: 'too-old', found: '1.22.1', setting: 'local' }],
    ['nor by looking on the PATH only', go('1.22.1', 'path'), { status: 'too-old' }],
    ['nor before Go could', go('1.19.8', ''), { status: 'too-old', found: '1.19.8', setting: '' }],
    ['none is none', undefined, { status: 'missing' }],
  ])('%s', (_, found, expected) => {
    expect(chooseGo(found, '1.26.6')).toMatchObject(expected);
  });

  test('versions compare by number, not by text', () => {
    expect(compareVersions('1.9', '1.26')).toBeLessThan(0);
    expect(compareVersions('1.26.10', '1.26.9')).toBeGreaterThan(0);
    expect(compareVersions('1.26', '1.26.0')).toBe(0);
  });
});

const text = [
  'bin/kube: go1.26.8',
  '\tpath\tfirstlight/kubernetes/kube',
  '\tmod\tfirstlight/kubernetes\t(devel)\t',
  '\tdep\tk8s.io/api\tv0.0.0',
  '\t=>\tk8s.io/api\tv0.37.1\th1:abc=',
  '\tdep\tgithub.com/b/b\tv1.0.0\th1:b=',
  '\tbuild\t-compiler=gc',
  'bin/other: go1.26.8',
  '\tdep\tgithub.com/b/b\tv1.0.0\th1:b=',
].join('\n');

test('a replaced module counts as what replaced it, and each counts once', () => {
  expect(parseModules(text)).toEqual([
    { path: 'github.com/b/b', version: 'v1.0.0', sum: 'h1:b=' },
    { path: 'k8s.io/api', version: 'v0.37.1', sum: 'h1:abc=' },
  ]);
});
