import { describe, expect, test } from 'vitest';
import { dockerVersionsFor } from './runtime-mappings.ts';

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
