// The controller of in-place attempts against the real kube-apiserver, with the rights of an agent and no more. Nodes
// are objects without machines: the tests write what a kubelet and the config servers would write.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentAccess } from '../../src/assets/manifests/agent-access.ts';
import {
  attemptKind,
  attemptName,
  type InPlacePhase,
  inPlaceAnnotations,
  inPlaceNamespace,
  readAttempt,
  readInPlaceStatus,
  restoringTaint,
  scheduleLabels,
} from '../../src/contract/in-place.ts';
import { nodeConfigAnnotations } from '../../src/contract/machine-config-node.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { runInPlaceController } from '../../src/in-place/controller/run-controller.ts';
import { inPlaceFactsObject, inPlaceObjects } from '../../src/in-place/manifests.ts';
import { judgeEvents } from '../../src/in-place/reporting/judge-event.ts';
import { applyManifests } from '../../src/kubernetes/apply.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { bootIdOf } from '../../src/kubernetes/node-object.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { watchObjects } from '../../src/kubernetes/watch.ts';
import { issueLeaf } from '../../src/pki/issue.ts';
import { machineLeaf } from '../../src/pki/profiles.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';

const host = realHost();
const stop = new AbortController();
const troubles: string[] = [];
/** Every version of w1 that the API showed. */
const versions: KubernetesObject[] = [];
let plane: ControlPlaneProcesses;
let admin: KubernetesClient;
let running: Promise<unknown>[] = [];

const facts = { clusterId: 'c1', serviceUrl: 'https://api-int.demo.firstlight.test:22623', serviceCa: 'pem' };
const attemptId = 'aaaaaaaa-0000-4000-8000-000000000000';
const attempt = { ...attemptKind, name: attemptName('w1', attemptId) };
const w1 = { apiVersion: 'v1', kind: 'Node', name: 'w1' };
const [label] = scheduleLabels;
const labels = { app: 'a', team: 't', 'kubernetes.io/hostname': 'w1' };
const taint = { key: 'dedicated', value: 'x', effect: 'NoSchedule' };
const soon = { timeout: 10_000, interval: 50 };

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver']);
  admin = await connectKubernetes(host, { path: plane.kubeconfig });
  const access = await agentAccess.generate({ inventory: { isClosed: false, machines: [] } }, undefined as never);
  const path = join(plane.folder, 'manifest.yaml');
  writeFileSync(path, access.map(({ content }) => String(content)).join('\n---\n'));
  const { output, code } = plane.kubectl('apply', '--server-side', '-f', path);
  if (code !== 0) throw new Error(output);
  // It waits for kinds that do not exist yet.
  running = [control().catch((error: unknown) => error)];
  const objects = [...inPlaceObjects('example.com/firstlight@sha256:1'), inPlaceFactsObject(facts)];
  const manifests = objects.map((value, n) => ({ source: String(n), value }));
  const { missing } = await applyManifests({ client: admin, host, manifests, deadlineMs: 30_000 });
  if (missing.length > 0) throw new Error(missing.join('; '));
  await makeNode();
  running.push(recordVersions().catch((error: unknown) => error));
}, 120_000);

afterAll(async () => {
  stop.abort(new Error('the suite is over'));
  await Promise.all(running);
  await admin?.[Symbol.asyncDispose]();
  await plane?.stop();
}, 60_000);

/** In the name of an agent: what the manifests do not grant fails here. */
async function control(): Promise<void> {
  const signer = plane.signer('control-plane-client-signer');
  const leaf = issueLeaf(machineLeaf('node-agent', plane.facts), signer, { random: host.random, now: new Date() });
  const text = kubeconfigText({
    cluster: 'demo',
    server: plane.server,
    caPem: { file: join(plane.pki, 'apiserver-ca.crt') },
    user: 'agent',
    credential: { kind: 'certificate', certificatePem: leaf.certificatePem, keyPem: leaf.key.privatePem.reveal() },
  });
  await using client = await connectKubernetes(host, { text });
  await runInPlaceController({
    client,
    host,
    clusterId: facts.clusterId,
    mastersMissing: async () => [],
    signal: stop.signal,
    mayAct: () => true,
    onEvent: (event) => {
      if (event.kind === 'trouble') troubles.push(event.error.message);
    },
  });
}

async function makeNode(): Promise<void> {
  const told = { [nodeConfigAnnotations.current]: 'one', [nodeConfigAnnotations.desired]: 'two' };
  const metadata = { name: 'w1', labels, annotations: told };
  await admin.create({ apiVersion: 'v1', kind: 'Node', metadata, spec: { taints: [taint] } });
  await boot('boot-1');
}

/** As a kubelet reports. */
async function boot(bootID: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', reason: 'x', message: 'x' }];
  const empty = { architecture: '', containerRuntimeVersion: '', kernelVersion: '', kubeProxyVersion: '' };
  const more = { kubeletVersion: '', machineID: '', operatingSystem: '', osImage: '', systemUUID: '' };
  const nodeInfo = { ...empty, ...more, bootID };
  await admin.mergePatch(w1, { status: { conditions, nodeInfo } }, { subresource: 'status' });
}

async function recordVersions(): Promise<void> {
  const kind = { apiVersion: 'v1', kind: 'Node' };
  for await (const nodes of watchObjects({ client: admin, host, kind, signal: stop.signal })) versions.push(...nodes);
}

let seq = 0;

/** As a config server writes it. */
async function report(phase: InPlacePhase, bootId: string): Promise<void> {
  seq += 1;
  const facts = { bootId, at: new Date().toISOString(), os: 'rhcos', agentVersion: '1' } as const;
  const event = { seq, phase, step: 's', status: 'ok', message: '', ...facts } as const;
  const verdict = judgeEvents((await status()).report, [event]);
  if (verdict.status !== 'new') throw new Error(verdict.status);
  await admin.mergePatch(attempt, { status: { report: verdict.report } }, { subresource: 'status' });
}

async function status() {
  const found = readAttempt(await admin.get(attempt));
  if (found === undefined) throw new Error('it cannot be read');
  return found.status;
}

const nodeNow = () => admin.get(w1);
const phase = async () => (await status()).phase;
const command = async () => (await status()).command;

test('a cordoned node with label and Secret is claimed, and its snapshot is kept for good', async () => {
  const data = { os: 'rhcos', 'attempt-id': attemptId, 'not-after': new Date(Date.now() + 3_600_000).toISOString() };
  const metadata = { name: 'ipb-w1', namespace: inPlaceNamespace };
  await admin.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data });
  await admin.mergePatch(w1, { spec: { unschedulable: true } });
  await admin.mergePatch(w1, { metadata: { labels: { [label]: 'true' } } });
  await expect.poll(async () => (await admin.find(attempt)) !== undefined, soon).toBe(true);
  await expect.poll(async () => (await status()).history.map((entry) => entry.phase), soon).toEqual(['Scheduled']);
  expect(await command()).toBe('pause');
  const { annotations = {} } = (await nodeNow()).metadata;
  expect(annotations[inPlaceAnnotations.claim]).toBe(attempt.name);
  // What the pool controller had asked for, and nobody had begun, is taken back.
  expect(annotations[nodeConfigAnnotations.desired]).toBe('one');
  const { snapshot = '' } = await status();
  const change = plane.kubectl('patch', 'configmap', snapshot, '-n', inPlaceNamespace, '-p', '{"data":{"x":"y"}}');
  expect(change.output).toContain('field is immutable');
});

test('the machine waits until its node is empty, and is then released', async () => {
  await report('Preflight', 'boot-1');
  await report('Ready', 'boot-1');
  await expect.poll(command, soon).toBe('none');
  expect(await phase()).toBe('Ready');
});

test('the label is gone when the machine is told so, in a version of the Node that still has the old boot', async () => {
  await report('KubeletStopped', 'boot-1');
  await expect.poll(command, soon).toBe('cleared');
  const { cleared } = await status();
  expect(cleared?.bootId).toBe('boot-1');
  const node = await nodeNow();
  expect(node.metadata.labels).toEqual(labels);
  expect(node['spec']).toMatchObject({
    unschedulable: true,
    taints: expect.arrayContaining([expect.objectContaining(restoringTaint)]),
  });
  expect(node.metadata.annotations).not.toHaveProperty([nodeConfigAnnotations.desired]);
});

test('labels of others survive, lost ones come back, the cordon goes last', async () => {
  for (const each of ['LabelCleared', 'Applying', 'Rebooting'] as const) await report(each, 'boot-1');
  await admin.mergePatch(w1, { metadata: { labels: { app: null, team: 'other', added: 'x' } } });
  for (const each of ['Booted', 'Joining'] as const) await report(each, 'boot-2');
  await expect.poll(phase, soon).toBe('Joining');
  await boot('boot-2');
  await expect.poll(phase, soon).toBe('Succeeded');
  const node = await nodeNow();
  expect(node.metadata.labels).toEqual({ ...labels, team: 'other', added: 'x' });
  const { taints, ...rest } = node['spec'] as { readonly taints: readonly { readonly key: string }[] };
  // The API taints a new Node until a controller, which does not run here, sees it Ready.
  expect(taints.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')).toEqual([taint]);
  expect(rest).toEqual({});
  expect(node.metadata.annotations?.[inPlaceAnnotations.claim]).toBeUndefined();
  await expect
    .poll(
      async () => readInPlaceStatus((await nodeNow()).metadata.annotations?.[inPlaceAnnotations.status])?.phase,
      soon,
    )
    .toBe('Succeeded');
});

test('the record of the API shows the order: label, new boot, labels, uncordon', async () => {
  const version = ({ metadata }: KubernetesObject): number => Number(metadata.resourceVersion);
  const cleared = Number((await status()).cleared?.version);
  const firstOfBoot = versions.find((node) => bootIdOf(node) === 'boot-2');
  const afterwards = versions.filter((node) => version(node) >= cleared);
  const isCordoned = ({ spec }: KubernetesObject) => (spec as { unschedulable?: boolean }).unschedulable === true;
  expect(firstOfBoot === undefined ? 0 : version(firstOfBoot)).toBeGreaterThan(cleared);
  expect(afterwards.filter(({ metadata }) => label in (metadata.labels ?? {}))).toEqual([]);
  const uncordoned = afterwards.find((node) => !isCordoned(node));
  expect(uncordoned?.metadata.labels).toMatchObject({ app: 'a', team: 'other', added: 'x' });
  const events = plane.kubectl('get', 'events', '-A', '--field-selector', 'reason=IPBPhase').output;
  for (const each of ['Scheduled', 'KubeletStopped', 'Restoring', 'Succeeded']) expect(events).toContain(each);
  expect(troubles).toEqual([]);
});

test('the same label again starts nothing: its id was used', async () => {
  await admin.mergePatch(w1, { spec: { unschedulable: true }, metadata: { labels: { [label]: 'true' } } });
  await expect
    .poll(() => plane.kubectl('get', 'events', '-A', '--field-selector', 'reason=IPBIgnored').output, soon)
    .toContain('another attempt-id');
  expect((await admin.list(attemptKind)).items.length).toBe(1);
});
