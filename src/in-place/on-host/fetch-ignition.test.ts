import { expect, test } from 'vitest';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, releaseReferenceFile } from '../../contract/machine-paths.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { FileNode } from '../../ignition/config.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { ignitionRequest } from '../ignition-request.ts';
import { fetchIgnition, inPlaceConfig } from './fetch-ignition.ts';

const file = (path: string, content: string): FileNode => inlineFile({ path, content, mode: 0o600 });
const release = { releaseImage: 'r@sha256:1', daemonImage: 'd@sha256:2' };
const own = [file('/etc/own', 'own'), file(releaseReferenceFile, JSON.stringify(release))];
const config = { ignition: { version: '3.4.0' }, storage: { files: own } };
const served = JSON.stringify({ metadata: { name: 'rendered-worker-1' }, spec: { config } });
const added = [
  inlineFile({ path: daemonFiles.servedMachineConfig, content: served, mode: 0o600, gzip: true }),
  file(bootstrapKubeconfig, 'kubeconfig'),
  file(daemonFiles.nodeAnnotations, '{}'),
  file(daemonFiles.encapsulated, 'small'),
];
const payload = (files: readonly FileNode[]): Uint8Array =>
  Buffer.from(JSON.stringify({ ...config, storage: { files } }));

test('what the server added for this machine is put into the config that it serialised before', () => {
  const made = inPlaceConfig(payload([...own, ...added]), 'https://a.test');
  expect([made.name, made.kubeconfig, made.release]).toEqual(['rendered-worker-1', 'kubeconfig', release]);
  const { spec } = JSON.parse(made.text) as { readonly spec: { readonly config: typeof config } };
  expect(spec.config.storage.files.map(({ path }) => path)).toEqual([
    '/etc/own',
    releaseReferenceFile,
    daemonFiles.servedMachineConfig,
    bootstrapKubeconfig,
    daemonFiles.nodeAnnotations,
  ]);
});

test('a config without what a member must have names what is missing', () => {
  expect(() => inPlaceConfig(payload(own), 'https://a.test')).toThrow(
    `it has no ${daemonFiles.servedMachineConfig} and no ${bootstrapKubeconfig} and no ${daemonFiles.nodeAnnotations}`,
  );
  expect(() => inPlaceConfig(Buffer.from('no json'), 'https://a.test')).toThrow(/cannot be used/);
});

test('a token of ours is shown as it is, any other in base64, and the target goes with it', () => {
  const secret = { 'ignition-url': 'https://a.test', 'node-pool': 'worker', 'target-hash': 'h' };
  expect(ignitionRequest({ ...secret, 'ignition-token': 'flp_x' }).headers).toMatchObject({
    authorization: 'Bearer flp_x',
    nodepool: 'worker',
    targetconfigversionhash: 'h',
  });
  expect(ignitionRequest({ ...secret, 'ignition-token': 'other' }).headers).toMatchObject({
    authorization: `Bearer ${Buffer.from('other').toString('base64')}`,
  });
});

test.each([
  [503, 'INPLACE_PAYLOAD_UNAVAILABLE'],
  [401, 'INPLACE_PAYLOAD_REFUSED'],
  [404, 'INPLACE_PAYLOAD_REFUSED'],
])('an answer %d is %s', async (status, code) => {
  const host = fakeHost({ network: { request: async () => ({ status, headers: {}, body: new Uint8Array() }) } });
  const { signal } = new AbortController();
  await expect(fetchIgnition(host, { 'ignition-url': 'https://a.test' }, signal)).rejects.toMatchObject({ code });
});
