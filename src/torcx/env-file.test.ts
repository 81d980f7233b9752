import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readImageTag, renderKubeletEnv } from './env-file.ts';

test('the tag is replaced, everything else keeps its place and its meaning', () => {
  const template = `# made by the installer
KUBELET_IMAGE_URL="quay.io/coreos/hyperkube"

KUBELET_IMAGE_TAG="v1.8.4_coreos.0"
EXTRA='two words'
EVIL="a $HOME \\"b\\" \\\\"
no assignment
`;
  expect(renderKubeletEnv(template, 'v1.9.7_coreos.0')).toBe(`# made by the installer
KUBELET_IMAGE_URL=quay.io/coreos/hyperkube

KUBELET_IMAGE_TAG=v1.9.7_coreos.0
EXTRA="two words"
EVIL="a \\$HOME \\"b\\" \\\\"
no assignment
`);
});

test('a template without the tag gets it at the end', () => {
  expect(renderKubeletEnv('A=b\n', 'v1')).toBe('A=b\nKUBELET_IMAGE_TAG=v1\n');
});

test('the last of several tags counts, and all are replaced', () => {
  const twice = 'KUBELET_IMAGE_TAG=a\nKUBELET_IMAGE_TAG="b"\n';
  expect(readImageTag(twice)).toBe('b');
  expect(renderKubeletEnv(twice, 'c')).toBe('KUBELET_IMAGE_TAG=c\nKUBELET_IMAGE_TAG=c\n');
});

test('a shell reads back every value that a template had', () => {
  const value = fc.string({ unit: fc.constantFrom(...'ab $`"\\\'#;&|<>*?~=%'.split('')), maxLength: 12 });
  fc.assert(
    fc.property(value, (wanted) => {
      const template = `VALUE="${wanted.replace(/["\\$`]/g, '\\$&')}"\nKUBELET_IMAGE_TAG=x\n`;
      const script = `set -eu\n${renderKubeletEnv(template, 'v1')}printf %s "$VALUE"`;
      expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(wanted);
    }),
    { numRuns: 40 },
  );
});
