import { beforeEach, describe, expect, test } from 'vitest';
import { createAssets } from '../assets/create-assets.ts';
import { targets } from '../assets/targets.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { kubeconfigFile } from './cluster-kubeconfig.ts';
import { placeHostEndpoint, removeHostEndpoint } from './host-endpoint.ts';
import { renewKubeconfigs } from './renew-kubeconfigs.ts';

const dir = '/w';
const run = { emit: () => {}, signal: new AbortController().signal };
const network = { domain: 'demo.firstlight.test', machineNetwork: '10.0.0.0/24', balancerAddress: '10.0.0.1' };
const ofPeople = ['auth/kubeconfig', 'auth/kubeconfig-break-glass'];
let host: FakeHost;

const createAll = () => createAssets({ host, dir, targets: targets['ignition-configs'], purpose: 'test', ...run });
const place = (port: number) =>
  placeHostEndpoint({ host, dir, placed: { ...network, apiEndpoint: { address: '127.0.0.1', port } }, ...run });

async function serverIn(path: string): Promise<string | undefined> {
  return /server: (.*)/.exec(await host.files.readText(`${dir}/${path}`))?.[1];
}

const serversOfPeople = () => Promise.all(ofPeople.map(serverIn));

beforeEach(async () => {
  host = fakeHost({ seed: 'endpoint' });
  await host.files.makeFolder(dir);
  await createAll();
});

describe('the kubeconfigs of administrators', () => {
  test('have the name of the API until machines exist, and where the platform serves it by its name', async () => {
    await placeHostEndpoint({ host, dir, placed: network, ...run });
    expect(await serversOfPeople()).toEqual(ofPeople.map(() => 'https://api.demo.firstlight.test:6443'));
  });

  test('lead to the port of this host as soon as there is one, for their owner alone', async () => {
    await place(40_443);
    expect(await serversOfPeople()).toEqual(ofPeople.map(() => 'https://127.0.0.1:40443'));
    expect((await host.files.facts(`${dir}/auth/kubeconfig`))?.mode).toBe(0o600);
    expect(await serverIn('auth/kubeconfig-internal')).toBe('https://api-int.demo.firstlight.test:6443');
  });

  test('say nothing about the install-config that was said before', async () => {
    await host.files.write(`${dir}/install-config.yaml`, 'controlPlane: {replicas: 1}\n');
    const told: WorkflowEvent[] = [];
    const emit = (event: WorkflowEvent): void => void told.push(event);
    const warnings = (): number => told.filter((event) => event.kind === 'notice' && event.level === 'warn').length;
    await createAssets({ host, dir, targets: targets['ignition-configs'], purpose: 'test', ...run, emit });
    expect(warnings()).toBe(1);
    await placeHostEndpoint({
      host,
      dir,
      placed: { ...network, apiEndpoint: { address: '127.0.0.1', port: 1 } },
      ...run,
      emit,
    });
    expect(warnings()).toBe(1);
  });

  test('still lead there after every later command, and looking again changes nothing', async () => {
    await place(40_443);
    const { changes } = host.disk;
    await createAll();
    await place(40_443);
    expect(host.disk.changes).toBe(changes);
    host.clock.advance(300 * 86_400_000);
    await renewKubeconfigs({ host, dir, ...run });
    expect(await serversOfPeople()).toEqual(ofPeople.map(() => 'https://127.0.0.1:40443'));
  });

  test('go with the cluster, also when a person changed them, and follow the next one', async () => {
    await place(40_443);
    const path = `${dir}/auth/kubeconfig`;
    await host.files.write(path, `${await host.files.readText(path)}# mine\n`, { mode: 0o600 });
    await removeHostEndpoint(host, dir);
    await expect(kubeconfigFile(host, dir)).rejects.toMatchObject({ code: 'CLUSTER_NO_CLUSTER' });
    await createAll();
    expect(await serversOfPeople()).toEqual(ofPeople.map(() => 'https://api.demo.firstlight.test:6443'));
    await place(40_444);
    expect(await serversOfPeople()).toEqual(ofPeople.map(() => 'https://127.0.0.1:40444'));
  });

  test('stay where no port of this host was ever theirs', async () => {
    await removeHostEndpoint(host, dir);
    expect(await kubeconfigFile(host, dir)).toBe(`${dir}/auth/kubeconfig`);
  });
});
