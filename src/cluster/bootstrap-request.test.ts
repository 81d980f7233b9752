import { expect, test } from 'vitest';
import { pauseFile, pauseText } from '../contract/bootstrap-pause.ts';
import { etcdRestoreFile } from '../contract/etcd-restore.ts';
import { bootkubeEnvironmentFile } from '../contract/machine-paths.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import type { MachineRequest } from '../platform/machine.ts';
import { bootstrapRequest } from './bootstrap-request.ts';

const environment = { RELEASE_IMAGE: 'r.test/release@sha256:1' };

function paths(request: MachineRequest): readonly string[] {
  const config = JSON.parse(Buffer.from(request.ignition).toString('utf8')) as IgnitionConfig;
  return (config.storage?.files ?? []).map(({ path }) => path);
}

function requestWith(...files: readonly string[]): MachineRequest {
  const config = { ignition: { version: '3.2.0' }, storage: { files: files.map((path) => ({ path })) } };
  return { name: 'bootstrap', role: 'bootstrap', ignition: Buffer.from(JSON.stringify(config)) };
}

test('the config of the bootstrap machine gets the images, and the pause only when somebody wants one', () => {
  const request = requestWith('/a');
  expect(paths(bootstrapRequest(request, { environment, pause: undefined }))).toEqual(['/a', bootkubeEnvironmentFile]);
  const held = bootstrapRequest(request, { environment, pause: { before: 'etcd' } });
  expect(paths(held)).toEqual(['/a', bootkubeEnvironmentFile, pauseFile]);
  expect(Buffer.from(held.ignition).toString('utf8')).toContain(
    Buffer.from(pauseText({ before: 'etcd' })).toString('base64'),
  );
});

test('what a person wrote into the config stays', () => {
  const request = requestWith(bootkubeEnvironmentFile, pauseFile);
  expect(bootstrapRequest(request, { environment, pause: { before: 'etcd' } })).toBe(request);
});

test('the machine that brings a cluster back is told from which snapshot', () => {
  const snapshot = { sha256: 'a'.repeat(64), sizeBytes: 20, revision: 8 };
  const restore = { id: '0011223344556677', beganAt: '2026-11-17T03:00:00.000Z', snapshot };
  const request = bootstrapRequest(requestWith('/a'), { environment, pause: undefined, restore });
  expect(paths(request)).toEqual(['/a', bootkubeEnvironmentFile, etcdRestoreFile]);
});
