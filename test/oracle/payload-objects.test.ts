// A real API server judges what a release brings into a cluster: every object of the payload is taken as it is, and is
// the version operator's from the beginning.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterVersionReference, versionOperator } from '../../src/contract/cluster-version.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { applyManifests } from '../../src/kubernetes/apply.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { operators } from '../../src/operators/operators.ts';
import { payloadManifests } from '../../src/operators/payload-files.ts';
import { fillValues, type PayloadValues } from '../../src/operators/payload-values.ts';
import { releasePayload } from '../../src/release/release-payload.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';

const host = realHost();
let plane: ControlPlaneProcesses;
let client: KubernetesClient;
beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver']);
  client = await connectKubernetes(host, { path: plane.kubeconfig });
}, 120_000);
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await plane?.stop();
}, 60_000);

const digest = `sha256:${'0'.repeat(64)}`;
const values: PayloadValues = {
  RELEASE_IMAGE: `release.test/release@${digest}`,
  RELEASE_VERSION: '1.2.3',
  API_HOST: 'api-int.demo.test',
  API_PORT: '6443',
  CLUSTER_ID: '7f6ad9a9-3f0a-4ab2-9f3b-7d2d3b1a5d10',
  DNS_ADDRESS: '172.30.0.10',
  APPS_DOMAIN: 'apps.demo.test',
  PLATFORM: 'local',
};

function objectsOfPayload(): readonly KubernetesObject[] {
  const names = new Set(['firstlight', ...operators.flatMap(({ images }) => images)]);
  const images = [...names].map((name) => ({ name, reference: `release.test/${name}@${digest}` }));
  const files = payloadManifests(releasePayload({ version: values.RELEASE_VERSION, images }));
  return files.flatMap(({ objects }) => objects.map((object) => fillValues(object, values)));
}

test('the API takes every object of the payload, with all of its fields', async () => {
  const manifests = objectsOfPayload().map((value, n) => ({ source: `${n}`, value }));
  expect(manifests.length).toBeGreaterThan(20);
  const managerOf = (): string => versionOperator.name;
  const options = { client, host, manifests, managerOf, deadlineMs: 60_000, strangersMs: 5_000 };
  expect((await applyManifests(options)).missing).toEqual([]);
  const again = await applyManifests(options);
  expect(new Set(again.objects.map(({ state }) => state))).toEqual(new Set(['present']));
}, 120_000);

test('a field that the next release does not have any more goes away when its version operator applies', async () => {
  const wanted = objectsOfPayload().find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'coredns');
  if (wanted === undefined) throw new Error('there is no Corefile');
  const { Corefile: _, ...data } = wanted['data'] as Record<string, string>;
  const next = { ...wanted, data };
  const after = await client.apply(next, { manager: versionOperator.name, force: true });
  expect(Object.keys(after['data'] as object)).toEqual(Object.keys(data));
});

test('the API takes a ClusterVersion with capabilities, and refuses a capability that does not exist', async () => {
  const { name, ...kind } = clusterVersionReference;
  const version = (capabilities: object): KubernetesObject => ({
    ...kind,
    metadata: { name },
    spec: { clusterID: values.CLUSTER_ID, capabilities },
  });
  await client.create(version({ baselineCapabilitySet: 'Minimal', additionalEnabledCapabilities: ['Storage'] }));
  const wrong = client.apply(version({ additionalEnabledCapabilities: ['Storrage'] }), { force: true });
  await expect(wrong).rejects.toMatchObject({ code: 'KUBERNETES_INVALID' });
});
