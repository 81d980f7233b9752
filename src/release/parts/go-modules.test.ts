import { expect, test } from 'vitest';
import { parseModules } from './go-modules.ts';

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
