// The pool controller against the real kube-apiserver, with the rights of an agent and no more. Nodes are objects
// without machines: the tests write what a daemon, a kubelet and the disruption controller would write.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentAccess } from '../../src/assets/manifests/agent-access.ts';
import { rolloutLease, systemNamespace } from '../../src/contract/cluster-objects.ts';
import {
  nodeConfigAnnotations as annotations,
  poolRollbackAnnotation,
} from '../../src/contract/machine-config-node.ts';
import { readPoolStatus } from '../../src/contract/machine-config-pool.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { applyManifests } from '../../src/kubernetes/apply.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { leadWhile } from '../../src/kubernetes/lease.ts';
import { type KubernetesObject, referenceOf } from '../../src/kubernetes/object.ts';
import { baseMachineConfigs, clusterFactsOf } from '../../src/machine-config/base-machine-configs.ts';
import { machineConfigCrds } from '../../src/machine-config/crds.ts';
import { exportedFile } from '../../src/machine-config/exported-objects.ts';
import { apiVersion, controllerConfigSchema, roleLabel } from '../../src/machine-config/machine-config.ts';
import { controllerConfigManifest } from '../../src/machine-config/manifests.ts';
import { builtInPools } from '../../src/machine-config/pools.ts';
import { renderPool } from '../../src/machine-config/render.ts';
import { issueLeaf } from '../../src/pki/issue.ts';
import { machineLeaf } from '../../src/pki/profiles.ts';
import { type RolloutOptions, runRollout } from '../../src/pool-rollout/run-rollout.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';
import { sampleFacts } from './machine-config-sample.ts';

const host = realHost();
const controllerConfig = controllerConfigManifest(sampleFacts);
const generated = baseMachineConfigs(clusterFactsOf(controllerConfigSchema.parse(controllerConfig)), 'the bootstrap');
const rendered = builtInPools.map((pool) => renderPool(pool, generated, { generatedBy: 'the bootstrap' }));
const first = Object.fromEntries(rendered.map(({ pool, name }) => [pool, name]));
const stop = new AbortController();
let plane: ControlPlaneProcesses;
let admin: KubernetesClient;
let running: Promise<unknown> = Promise.resolve();
let before: string;

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver']);
  admin = await connectKubernetes(host, { path: plane.kubeconfig });
  const access = await agentAccess.generate({ inventory: { isClosed: false, machines: [] } }, undefined as never);
  apply(...access.map(({ content }) => String(content)));
  const { items } = JSON.parse(exportedFile({ generated, rendered, builtInPools }).text) as {
    items: readonly object[];
  };
  const manifests = [...machineConfigCrds, controllerConfig, ...items].map((value, n) => ({
    source: String(n),
    value,
  }));
  const { missing } = await applyManifests({ client: admin, host, manifests, deadlineMs: 30_000 });
  if (missing.length > 0) throw new Error(missing.join('; '));
  for (const name of ['w1', 'w2']) await makeNode(name, 'worker');
  await makeNode('m1', 'master');
  before = versions();
  running = control(stop.signal).catch((error: unknown) => error);
}, 120_000);

afterAll(async () => {
  stop.abort(new Error('the suite is over'));
  await running;
  await admin?.[Symbol.asyncDispose]();
  await plane?.stop();
}, 60_000);

function apply(...texts: readonly string[]): void {
  const path = join(plane.folder, 'manifest.yaml');
  writeFileSync(path, texts.join('\n---\n'));
  const { output, code } = plane.kubectl('apply', '--server-side', '-f', path);
  if (code !== 0) throw new Error(output);
}

/** In the name of an agent: what the manifest does not grant fails here. */
async function agentClient(): Promise<KubernetesClient> {
  const signer = plane.signer('control-plane-client-signer');
  const leaf = issueLeaf(machineLeaf('node-agent', plane.facts), signer, { random: host.random, now: new Date() });
  const text = kubeconfigText({
    cluster: 'demo',
    server: plane.server,
    caPem: { file: join(plane.pki, 'apiserver-ca.crt') },
    user: 'agent',
    credential: { kind: 'certificate', certificatePem: leaf.certificatePem, keyPem: leaf.key.privatePem.reveal() },
  });
  return connectKubernetes(host, { text });
}

async function control(signal: AbortSignal, more: Partial<RolloutOptions> = {}): Promise<void> {
  await using client = await agentClient();
  await runRollout({
    client,
    host,
    generatedBy: 'the controller',
    mastersMissing: async () => [],
    signal,
    mayAct: () => true,
    onEvent: (event) => {
      if (event.kind === 'trouble') troubles.push(event.error.message);
    },
    ...more,
  });
}

const troubles: string[] = [];

async function makeNode(name: string, role: 'master' | 'worker'): Promise<void> {
  const config = first[role] ?? '';
  await admin.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { [`node-role.kubernetes.io/${role}`]: '' },
      annotations: { [annotations.current]: config, [annotations.desired]: config, [annotations.state]: 'Done' },
    },
  });
  const conditions = [{ type: 'Ready', status: 'True', reason: 'x', message: 'x' }];
  await admin.mergePatch(nodeNamed(name), { status: { conditions } }, { subresource: 'status' });
}

const nodeNamed = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name });
const poolNamed = (name: string) => ({ apiVersion, kind: 'MachineConfigPool', name });
const configNamed = (name: string) => ({ apiVersion, kind: 'MachineConfig', name });

function versions(): string {
  const columns = 'custom-columns=N:.metadata.name,V:.metadata.resourceVersion';
  return plane.kubectl('get', 'machineconfigs', '-o', columns).output;
}

async function said(node: string, name: keyof typeof annotations): Promise<string> {
  return (await admin.get(nodeNamed(node))).metadata.annotations?.[annotations[name]] ?? '';
}

/** As its daemon would write. */
async function say(node: string, given: Partial<Record<keyof typeof annotations, string>>): Promise<void> {
  const entries = Object.entries(given).map(([name, value]) => [annotations[name as keyof typeof annotations], value]);
  await admin.mergePatch(nodeNamed(node), { metadata: { annotations: Object.fromEntries(entries) } });
}

async function targetOf(pool: string): Promise<string> {
  const { spec } = await admin.get(poolNamed(pool));
  return (spec as { configuration?: { name?: string } }).configuration?.name ?? '';
}

async function condition(pool: string, type: string): Promise<string> {
  const found = readPoolStatus(await admin.get(poolNamed(pool))).conditions.find((each) => each.type === type);
  return `${found?.status} ${found?.message}`.trim();
}

const soon = { timeout: 10_000, interval: 50 };

/** The daemon of a node takes what it is asked for. */
async function take(node: string, config: string): Promise<void> {
  await expect.poll(() => said(node, 'desired'), soon).toBe(config);
  await say(node, { current: config, state: 'Done' });
}

function fileConfig(name: string, storage: object, role = 'worker'): KubernetesObject {
  const config = { ignition: { version: '3.4.0' }, storage };
  return { apiVersion, kind: 'MachineConfig', metadata: { name, labels: { [roleLabel]: role } }, spec: { config } };
}

const file = (path: string, text: string) => ({
  files: [{ path, mode: 0o644, contents: { source: `data:,${encodeURIComponent(text)}` } }],
});

describe('the pool controller', () => {
  test('finds what the bootstrap exported, and changes nothing of it', async () => {
    await expect
      .poll(() => condition('worker', 'Updated'), soon)
      .toBe(`True All nodes are updated with ${first['worker']}`);
    await expect
      .poll(() => condition('master', 'Updated'), soon)
      .toBe(`True All nodes are updated with ${first['master']}`);
    expect(versions()).toBe(before);
    expect(plane.kubectl('get', 'mcp', 'worker').output).toMatch(
      /worker +rendered-worker-\S+ +True +False +False +2 +2 +2 +0/,
    );
  });

  test('moves one worker after the other, and the history says when', async () => {
    await admin.create(fileConfig('50-motd', file('/etc/motd', 'one')));
    await expect.poll(() => targetOf('worker'), soon).not.toBe(first['worker']);
    const target = await targetOf('worker');
    await expect.poll(() => said('w1', 'desired'), soon).toBe(target);
    expect(await said('w2', 'desired')).toBe(first['worker']);
    await take('w1', target);
    await take('w2', target);
    await expect.poll(() => condition('worker', 'Updated'), soon).toBe(`True All nodes are updated with ${target}`);
    const { history } = readPoolStatus(await admin.get(poolNamed('worker')));
    expect(history.map(({ name, state }) => [name, state])).toEqual([
      [target, 'Done'],
      [first['worker'], 'Done'],
    ]);
    expect(history[0]?.sources).toContain('50-motd');
    expect(await targetOf('master')).toBe(first['master']);
  });

  test('names the MachineConfig that cannot be rendered, moves nothing, and recovers when it is gone', async () => {
    const target = await targetOf('worker');
    const disks = { disks: [{ device: '/dev/sdb', wipeTable: true }] };
    await admin.create(fileConfig('60-disks', disks));
    await expect.poll(() => condition('worker', 'RenderDegraded'), soon).toMatch(/^True .*disks.*60-disks/s);
    expect(await targetOf('worker')).toBe(target);
    expect(await said('w1', 'state')).toBe('Done');
    await admin.delete(configNamed('60-disks'));
    await expect.poll(() => condition('worker', 'RenderDegraded'), soon).toBe('False');
  });

  test('stops at a node that failed, and a roll-back brings it home', async () => {
    const good = await targetOf('worker');
    await admin.create(fileConfig('70-bad', file('/etc/bad', 'x')));
    await expect.poll(() => targetOf('worker'), soon).not.toBe(good);
    const bad = await targetOf('worker');
    await expect.poll(() => said('w1', 'desired'), soon).toBe(bad);
    await say('w1', { state: 'Degraded', reason: 'bad.service does not start' });
    await expect
      .poll(() => condition('worker', 'Degraded'), soon)
      .toBe('True Node w1 is reporting: "bad.service does not start"');
    expect(await said('w2', 'desired')).toBe(good);
    const rollback = JSON.stringify({ to: good, insteadOf: bad });
    await admin.mergePatch(poolNamed('worker'), { metadata: { annotations: { [poolRollbackAnnotation]: rollback } } });
    await expect.poll(() => said('w1', 'desired'), soon).toBe(good);
    await say('w1', { state: 'Done', reason: '' });
    await expect.poll(() => condition('worker', 'Updated'), soon).toBe(`True All nodes are updated with ${good}`);
    await admin.delete(configNamed('70-bad'));
    await expect
      .poll(async () => (await admin.get(poolNamed('worker'))).metadata.annotations?.[poolRollbackAnnotation], soon)
      .toBe(undefined);
    expect(await targetOf('worker')).toBe(good);
  });

  test('moves nothing in a pool that is paused, and goes on when it is resumed', async () => {
    const old = await targetOf('worker');
    await admin.mergePatch(poolNamed('worker'), { spec: { paused: true } });
    await admin.delete(configNamed('50-motd'));
    await expect
      .poll(() => condition('worker', 'Updating'), soon)
      .toMatch(/^False Pool is paused; will not update to /);
    expect(await said('w1', 'desired')).toBe(old);
    await admin.mergePatch(poolNamed('worker'), { spec: { paused: null } });
    for (const node of ['w1', 'w2']) await take(node, first['worker'] ?? '');
    await expect.poll(() => condition('worker', 'Updated'), soon).toMatch(/^True/);
  });

  test('tells nodes what their pool says about drift', async () => {
    await admin.mergePatch(poolNamed('worker'), { spec: { driftPolicy: 'Revert' } });
    await expect.poll(() => said('w2', 'driftPolicy'), soon).toBe('Revert');
    expect(await said('m1', 'driftPolicy')).toBe('');
    await admin.mergePatch(poolNamed('worker'), { spec: { driftPolicy: null } });
    await expect.poll(() => said('w2', 'driftPolicy'), soon).toBe('');
  });

  test('holds a rendered config that somebody deletes until no node names it', async () => {
    const used = first['worker'] ?? '';
    await admin.delete(configNamed(used));
    await expect
      .poll(() => plane.kubectl('get', 'events', '--field-selector', 'reason=InUse').output, soon)
      .toContain('node w1');
    expect((await admin.find(configNamed(used)))?.metadata.deletionTimestamp).toBeDefined();
  });
});

describe('a drain', () => {
  const podIn = (name: string, labels: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: {
      nodeName: 'w1',
      containers: [{ name: 'c', image: 'example.com/c' }],
      automountServiceAccountToken: false,
    },
  });
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', name: 'web', namespace: 'default' };
  const allow = (disruptionsAllowed: number) =>
    admin.mergePatch(
      budget,
      { status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } },
      { subresource: 'status' },
    );
  const isCordoned = async () =>
    ((await admin.get(nodeNamed('w1'))).spec as { unschedulable?: boolean }).unschedulable === true;

  test('names the budget in its way, and is answered when the last pod is gone', async () => {
    await admin.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    });
    await admin.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await allow(0);
    for (const pod of [podIn('web-1', { app: 'web' }), podIn('other', {})]) {
      await admin.create(pod);
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await admin.mergePatch(referenceOf(pod), { status }, { subresource: 'status' });
    }
    await say('w1', { desiredDrain: 'drain-x' });
    await expect.poll(isCordoned, soon).toBe(true);
    await expect.poll(() => said('w1', 'drainProgress'), soon).toContain('"budget":"default/web"');
    await expect.poll(() => goingPods(), soon).toEqual(['other']);
    finish('other');
    await admin.mergePatch(nodeNamed('w1'), { spec: { unschedulable: null } });
    await expect.poll(isCordoned, soon).toBe(true);
    expect(await said('w1', 'lastAppliedDrain')).toBe('');
    await allow(1);
    await expect.poll(() => goingPods(), soon).toEqual(['web-1']);
    finish('web-1');
    await expect.poll(() => said('w1', 'lastAppliedDrain'), soon).toBe('drain-x');
    expect(await said('w1', 'drainProgress')).toBe('');
  });

  test('is undone when the daemon asks for it, and a cordon of a person stays', async () => {
    await say('w1', { desiredDrain: 'uncordon-x' });
    await expect.poll(() => said('w1', 'lastAppliedDrain'), soon).toBe('uncordon-x');
    expect(await isCordoned()).toBe(false);
    plane.kubectl('cordon', 'w1');
    await say('w1', { desiredDrain: 'uncordon-y' });
    await expect.poll(() => said('w1', 'lastAppliedDrain'), soon).toBe('uncordon-y');
    expect(await isCordoned()).toBe(true);
    plane.kubectl('uncordon', 'w1');
  });

  async function goingPods(): Promise<readonly string[]> {
    const { items } = await admin.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: 'default' });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => metadata.name);
  }

  /** As the kubelet would when its containers have ended. */
  function finish(pod: string): void {
    plane.kubectl('delete', 'pod', pod, '--grace-period=0', '--force', '--wait=false');
  }
});

test('another controller goes on within three seconds when the one that leads ends', async () => {
  const led: string[] = [];
  const contend = async (identity: string, signal: AbortSignal): Promise<void> => {
    await using client = await agentClient();
    const election = { client, host, namespace: systemNamespace, name: rolloutLease, identity, signal };
    await leadWhile(election, ({ signal: term, mayAct }) => {
      led.push(identity);
      return control(term, { mayAct });
    });
  };
  const [one, other] = [new AbortController(), new AbortController()];
  const first = contend('one', one.signal).catch(() => undefined);
  await expect.poll(() => led, soon).toEqual(['one']);
  const second = contend('other', other.signal).catch(() => undefined);
  const endedMs = performance.now();
  one.abort(new Error('the machine goes down'));
  await expect.poll(() => led, soon).toEqual(['one', 'other']);
  expect(performance.now() - endedMs).toBeLessThan(3_000);
  other.abort(new Error('the test is over'));
  await Promise.all([first, second]);
  expect(troubles).toEqual([]);
});
