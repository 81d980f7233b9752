import { describe, expect, test } from 'vitest';
import { findVersion, isBoundList, otherSubject, parsePackageManifest } from './package-manifest.ts';

const hash = `sha512-${'a'.repeat(128)}`;
const shipped = '/usr/share/torcx/store/docker:1.12.torcx.tgz';
const version = (name: string, locations: unknown) => ({ version: name, hash, casDigest: 'ignored', locations });
const text = JSON.stringify({
  kind: 'torcx-package-list-v0',
  Value: {
    Packages: [
      {
        Name: 'docker',
        DefaultVersion: '17.09',
        versions: [
          version('1.12', [{ url: 'https://x.test/1.12' }, { path: shipped }]),
          version('17.06', [{ url: 'https://x.test/a' }, { url: 'https://y.test/b' }]),
          version('1.11', []),
          version('1.10', [{ path: '/opt/docker.tgz' }, { path: '/usr/share/torcx/store/../../../etc/passwd' }]),
          version('1.9', [{ url: 'file:///etc/passwd' }]),
        ],
      },
    ],
  },
});
const manifest = parsePackageManifest(Buffer.from(text));

describe('a package list', () => {
  test('is read whatever the case of its keys, as Go does', () => {
    expect(findVersion(manifest, 'docker', '17.06')).toMatchObject({ reference: '17.06', hash });
  });

  test('an image of the vendor’s store comes before its URLs', () => {
    expect(findVersion(manifest, 'docker', '1.12')).toMatchObject({
      vendorPath: shipped,
      urls: ['https://x.test/1.12'],
    });
  });

  test('URLs keep their order', () => {
    expect(findVersion(manifest, 'docker', '17.06')?.urls).toEqual(['https://x.test/a', 'https://y.test/b']);
  });

  test.each([
    ['pants', '1.12'],
    ['docker', '0'],
    ['docker', '1.11'],
    ['docker', '1.10'],
    ['docker', '1.9'],
  ])('%s %s is not offered', (name, reference) => {
    expect(findVersion(manifest, name, reference)).toBeUndefined();
  });

  test('another kind is refused', () => {
    expect(() => parsePackageManifest(Buffer.from('{"kind":"other","value":{}}'))).toThrow(/kind/);
  });
});

describe('what a list is for', () => {
  const here = { board: 'amd64-usr', osVersion: '1520.5.0' };
  const listOf = (value: object) =>
    parsePackageManifest(
      Buffer.from(JSON.stringify({ kind: 'torcx-package-list-v0', value: { packages: [], ...value } })),
    );
  const fromUrl = (url: string): object => ({ packages: [{ name: 'docker', versions: [version('1.12', [{ url }])] }] });

  test.each([
    ['nothing', {}, undefined],
    ['this node', here, undefined],
    ['another OS version', { ...here, osVersion: '1465.8.0' }, 'it is for OS 1465.8.0'],
    ['another board', { ...here, board: 'arm64-usr' }, 'it is for arm64-usr'],
    ['archives of this board', fromUrl('https://x.test/pkgs/amd64-usr/docker/a/docker:1.12.torcx.tgz'), undefined],
    ['archives of another board', fromUrl('https://x.test/pkgs/arm64-usr/docker/a/d.tgz'), 'it is for arm64-usr'],
    ['archives of no board', fromUrl('https://x.test/images/docker.tgz'), undefined],
  ])('a list that names %s', (_name, value, other) => {
    expect(otherSubject(listOf(value), here)).toBe(other);
  });

  test('is bound only by both names', () => {
    expect([here, {}, { board: 'amd64-usr' }].map((value) => isBoundList(listOf(value)))).toEqual([true, false, false]);
  });
});
