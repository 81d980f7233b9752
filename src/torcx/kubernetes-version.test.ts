import { describe, expect, test } from 'vitest';
import {
  defaultRuntimeMappings,
  dockerVersionsFor,
  imageTagOf,
  kubernetesMinorOf,
  versionOfImageTag,
} from './kubernetes-version.ts';

describe('a Kubernetes version', () => {
  test.each([
    ['v1.9.6+coreos.0', '1.9'],
    ['vv1.10.2', '1.10'],
    ['1.8.4-beta.1+x', '1.8'],
  ])('%s has the minor %s', (version, minor) => {
    expect(kubernetesMinorOf(version)).toBe(minor);
  });

  test.each(['', '1.9', 'v1', '1.9.x', '1.2.3.4', 'latest'])('%j has none', (version) => {
    expect(() => kubernetesMinorOf(version)).toThrow(/does not begin with three numbers/);
  });

  test('every + of a version is a _ of a tag, and back', () => {
    expect(imageTagOf('v1.8.4+a+b')).toBe('v1.8.4_a_b');
    expect(versionOfImageTag('v1.8.4_a_b')).toBe('v1.8.4+a+b');
    for (const bad of ['', 'v1 2', 'v1\nEVIL=1', '-v1', '$(x)', 'v'.repeat(129)])
      expect(() => imageTagOf(bad)).toThrow(/tag/);
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

  test('those of a cluster without own ones have its Kubernetes and the original’s', () => {
    const shipped = defaultRuntimeMappings('v1.37.1');
    expect(dockerVersionsFor('1.37', shipped, 'file')).toEqual(['17.03', '1.12']);
    expect(dockerVersionsFor('1.7', shipped, 'file')).toEqual(['1.12']);
    expect(() => dockerVersionsFor('1.36', shipped, 'file')).toThrow(/no entry/);
  });
});
