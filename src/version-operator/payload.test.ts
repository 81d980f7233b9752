import { describe, expect, test } from 'vitest';
import { isError } from '../errors/firstlight-error.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { versionOperatorErrors } from './errors.ts';
import { readPayload } from './payload.ts';

const images = JSON.stringify({
  kind: 'ImageStream',
  metadata: { name: '0.2.0' },
  spec: { tags: [{ name: 'coredns', from: { kind: 'DockerImage', name: 'r/coredns@sha256:1' } }] },
});
const metadata = JSON.stringify({ kind: 'cincinnati-metadata-v0', version: '0.2.0', previous: [] });
const namespace = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;

async function hostWith(files: Readonly<Record<string, string>>): Promise<FakeHost> {
  const host = fakeHost();
  await host.files.makeFolder('/r/release-manifests');
  for (const [name, text] of Object.entries(files)) await host.files.write(`/r/release-manifests/${name}`, text);
  return host;
}

const whole = { 'image-references': images, 'release-metadata': metadata };

describe('a payload', () => {
  test('has its tasks by level and file name, with level, component and source of each', async () => {
    const host = await hostWith({
      ...whole,
      '0000_70_dns_01_b.yaml': `${namespace('c')}---\n${namespace('d')}`,
      '0000_00_cluster-version-operator_00_a.yaml': namespace('a'),
      'unordered.json': JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'b' } }),
      'notes.txt': 'not a manifest',
    });
    const { tasks, version, images: named } = await readPayload(host.files, '/r');
    expect([version, named]).toEqual(['0.2.0', { coredns: 'r/coredns@sha256:1' }]);
    expect(tasks.map(({ source, level, component }) => [source, level, component])).toEqual([
      ['0000_00_cluster-version-operator_00_a.yaml#1', 0, 'cluster-version-operator'],
      ['unordered.json#1', 50, 'unordered'],
      ['0000_70_dns_01_b.yaml#1', 70, 'dns'],
      ['0000_70_dns_01_b.yaml#2', 70, 'dns'],
    ]);
  });

  test('has a hash that changes with any manifest and with nothing else', async () => {
    const hashOf = async (files: Readonly<Record<string, string>>): Promise<string> =>
      (await readPayload((await hostWith({ ...whole, ...files })).files, '/r')).versionHash;
    const one = await hashOf({ 'a.yaml': namespace('a') });
    expect(await hashOf({ 'a.yaml': namespace('a'), 'notes.txt': 'x' })).toBe(one);
    expect(await hashOf({ 'a.yaml': namespace('b') })).not.toBe(one);
    expect(await hashOf({ 'b.yaml': namespace('a') })).not.toBe(one);
  });

  test('makes a task that fails of a broken manifest, with file and place, and keeps the others', async () => {
    const host = await hostWith({
      ...whole,
      '0000_50_x_a.yaml': `${namespace('a')}---\nkind: [\n---\n${namespace('b')}`,
      '0000_50_x_b.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {}\n',
    });
    const { tasks } = await readPayload(host.files, '/r');
    expect(tasks.map((task) => ('object' in task ? task.object.metadata.name : task.problem))).toEqual([
      'a',
      'b',
      expect.stringMatching(/^0000_50_x_a\.yaml:\d+:\d+ {2}not YAML/),
      '0000_50_x_b.yaml:1:1  it has no metadata.name',
    ]);
  });

  const { PAYLOAD_INCOMPLETE, PAYLOAD_UNREADABLE, PAYLOAD_VERSIONS } = versionOperatorErrors;
  const wrong = [
    ['image-references is missing', { 'release-metadata': metadata }, PAYLOAD_INCOMPLETE],
    ['release-metadata is missing', { 'image-references': images }, PAYLOAD_INCOMPLETE],
    ['image-references is not JSON', { ...whole, 'image-references': '{' }, PAYLOAD_UNREADABLE],
    ['release-metadata is of another kind', { ...whole, 'release-metadata': '{"kind":"x"}' }, PAYLOAD_UNREADABLE],
    ['the versions differ', { ...whole, 'release-metadata': metadata.replace('0.2.0', '0.3.0') }, PAYLOAD_VERSIONS],
  ] as const;

  test.each(wrong)('is refused when %s', async (_what, files, row) => {
    const host = await hostWith(files);
    const error: unknown = await readPayload(host.files, '/r').catch((failure: unknown) => failure);
    expect(isError(error, row)).toBe(true);
  });

  test('is refused when there is no folder of manifests', async () => {
    await expect(readPayload(fakeHost().files, '/nowhere')).rejects.toThrow('release-manifests is missing');
  });
});
