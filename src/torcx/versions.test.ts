import { describe, expect, test } from 'vitest';
import { minorOf, tagOf, versionOfTag } from './kube-version.ts';
import { defaultManifestUrl, renderManifestUrl } from './manifest-url.ts';
import { parseOsRelease } from './os-release.ts';
import { compareOsVersions, isOsVersion } from './os-version.ts';
import { dockerVersionsFor } from './runtime-mappings.ts';

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

describe('runtime mappings', () => {
  const yaml = `kind: VersionManifestV1
versions:
  fleet:
    1.0: {}
  k8s:
    1.6: { docker: ["1.12"] }
    1.8: { docker: ["1.13", "1.12"] }
    1.9: { docker: [] }
    1.10: { docker: [17.03] }
    1.11: { rkt: ["1"] }
`;
  test.each([
    ['1.6', ['1.12']],
    ['1.8', ['1.13', '1.12']],
    ['1.10', ['17.03']],
  ])('Kubernetes %s gets %j', (minor, docker) => {
    expect(dockerVersionsFor(minor, yaml, 'file')).toEqual(docker);
  });

  test.each([
    ['1.5', /no entry for Kubernetes 1\.5/],
    ['1.1', /no entry for Kubernetes 1\.1/],
    ['1.9', /lists no docker version/],
    ['1.11', /does not mention docker/],
  ])('Kubernetes %s is an error that says which level is missing', (minor, message) => {
    expect(() => dockerVersionsFor(minor, yaml, 'file')).toThrow(message);
  });

  test.each([
    '',
    'kind: Other\n',
    'kind: VersionManifestV1\n',
    'a: [b',
    'kind: VersionManifestV1\nversions: {k8s: {1.8: {docker: ["../x"]}}}',
  ])('%j is refused', (text) => {
    expect(() => dockerVersionsFor('1.8', text, 'file')).toThrow(/runtime mappings from file/);
  });
});

test('the manifest URL fills in what is known, percent-encoded', () => {
  expect(renderManifestUrl(defaultManifestUrl, { board: 'amd64-usr', osVersion: '1520.5.0' })).toBe(
    'https://tectonic-torcx.release.core-os.net/manifests/amd64-usr/1520.5.0/torcx_manifest.json',
  );
  expect(renderManifestUrl('https://x/{{ .Board }}/{{.OSVersion}}', { board: 'a/b', osVersion: '1.2.3+x' })).toBe(
    'https://x/a%2Fb/1.2.3%2Bx',
  );
});
