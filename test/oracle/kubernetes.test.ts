// Our layer on the Kubernetes client against the real kube-apiserver: every operation, the order of
// an apply and its resume, watches and Leases across kills.
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FirstlightError } from '../../src/errors/firstlight-error.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { type ApplyEvent, type ApplyOptions, applyManifests, type Manifest } from '../../src/kubernetes/apply.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { type ElectionOptions, type LeaseTimes, leadWhile } from '../../src/kubernetes/lease.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { watchObjects } from '../../src/kubernetes/watch.ts';
import { machineConfigCrds } from '../../src/machine-config/crds.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';

const host = realHost();
let plane: ControlPlaneProcesses;
let client: KubernetesClient;

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver']);
  client = await connectKubernetes(host, { path: plane.kubeconfig });
}, 120_000);

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await plane.stop();
});

const configMap = (name: string, data: object, namespace = 'default'): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const reference = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: FirstlightError) => error.code,
  );
}

describe('operations on plain objects', () => {
  test('create, read, patch, apply, list and delete mean what kubectl sees', async () => {
    await client.create(configMap('one', { a: '1', b: '2' }));
    await client.mergePatch(reference('one'), { data: { a: null, c: '3' } });
    await client.apply(configMap('one', { d: '4' }));
    expect(JSON.parse(plane.kubectl('get', 'cm', 'one', '-o', 'jsonpath={.data}').output)).toEqual({
      b: '2',
      c: '3',
      d: '4',
    });
    const { items, resourceVersion } = await client.list(
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { fieldSelector: 'metadata.name=one' },
    );
    expect(items.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([['ConfigMap', 'one']]);
    expect(resourceVersion).toMatch(/^\d+$/);
    expect(await client.delete(reference('one'))).toBe(true);
    expect(await client.delete(reference('one'))).toBe(false);
    expect(await client.find(reference('one'))).toBeUndefined();
  });

  test('names keep their capitals and colons, which the API allows for roles', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'firstlight:Odd' },
      rules: [],
    };
    await client.create(role);
    expect((await client.get({ ...role, name: 'firstlight:Odd' })).metadata.name).toBe('firstlight:Odd');
    expect(await client.delete({ ...role, name: 'firstlight:odd' })).toBe(false);
  });

  test('/readyz and /version answer raw', async () => {
    expect(await client.getRaw('/readyz')).toEqual({ status: 200, text: 'ok' });
    expect(JSON.parse((await client.getRaw('/version')).text)).toHaveProperty('gitVersion');
    expect((await client.getRaw('/nothing')).status).toBe(404);
  });

  test('one connection serves many requests', async () => {
    const started = performance.now();
    for (let n = 0; n < 50; n += 1) await client.getRaw('/readyz');
    expect((performance.now() - started) / 50).toBeLessThan(50);
  });

  test('each refusal has its own code', async () => {
    await client.create(configMap('two', {}));
    const two = await client.get(reference('two'));
    await client.mergePatch(reference('two'), { data: { x: '1' } });
    const caPem = plane.signer('apiserver-serving-signer').certificatePem;
    const stranger = kubeconfigText({
      cluster: 'c',
      server: plane.server,
      caPem,
      user: 'u',
      credential: { kind: 'token', token: 'abcdef.0123456789abcdef' },
    });
    const nobody = kubeconfigText({ cluster: 'c', server: 'https://127.0.0.1:1', caPem, user: 'u' });
    const distrustful = kubeconfigText({
      cluster: 'c',
      server: plane.server,
      caPem: plane.signer('etcd-signer').certificatePem,
      user: 'u',
    });
    plane.kubectl('create', 'serviceaccount', 'powerless');
    const token = plane.kubectl('create', 'token', 'powerless').output.trim();
    const powerless = kubeconfigText({
      cluster: 'c',
      server: plane.server,
      caPem,
      user: 'u',
      credential: { kind: 'token', token },
    });
    const by = async (text: string): Promise<unknown> => {
      await using other = await connectKubernetes(host, { text });
      return other.get(reference('two'));
    };
    const table: Record<string, () => Promise<unknown>> = {
      KUBERNETES_NOT_FOUND: () => client.get(reference('absent')),
      KUBERNETES_ALREADY_EXISTS: () => client.create(configMap('two', {})),
      KUBERNETES_CONFLICT: () => client.replace(two),
      KUBERNETES_INVALID: () => client.create(configMap('Not A Name', {})),
      KUBERNETES_NO_SUCH_KIND: () => client.get({ apiVersion: 'v1', kind: 'Configmap', name: 'two' }),
      KUBERNETES_UNAUTHORIZED: () => by(stranger),
      KUBERNETES_FORBIDDEN: () => by(powerless),
      KUBERNETES_UNREACHABLE: () => by(nobody),
      KUBERNETES_KUBECONFIG: () => connectKubernetes(host, { text: 'kind: Config' }),
    };
    for (const [code, call] of Object.entries(table)) expect(await codeOf(call()), code).toBe(code);
    const untrusted = await by(distrustful).catch((error: unknown) => error as FirstlightError);
    expect(untrusted).toMatchObject({ code: 'KUBERNETES_UNREACHABLE', details: { failure: 'tls' } });
  });

  test('requests given up at any moment take no memory and no other request with them', async () => {
    const before = process.memoryUsage().rss;
    const reason = new Error('gave up');
    for (let round = 0; round < 60; round += 1) {
      const stop = new AbortController();
      const data = { text: 'x'.repeat(round % 3 === 0 ? 100_000 : 10) };
      const given = Array.from({ length: 8 }, (_, n) =>
        client.create(configMap(`up-${round}-${n}`, data), { signal: stop.signal }).catch((error: unknown) => error),
      );
      const other = client.getRaw('/readyz');
      await host.clock.sleep((round % 12) / 2);
      stop.abort(reason);
      for (const answer of await Promise.all(given)) {
        if (answer !== reason) expect(answer).toMatchObject({ kind: 'ConfigMap' });
      }
      expect((await other).status).toBe(200);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  test('the reason of the server is in the message, and a caller who gives up gets its own reason', async () => {
    const invalid = await client.create(configMap('bad name', {})).catch((error: unknown) => error as FirstlightError);
    expect((invalid as FirstlightError).message).toMatch(/^cannot create ConfigMap default\/bad name: .*RFC 1123/);
    const reason = new Error('gave up');
    await expect(client.get(reference('two'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('applying manifests', () => {
  const manifest = (source: string, value: unknown): Manifest => ({ source, value });
  const pool = (name: string) => ({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name },
    spec: { paused: false },
    status: { machineCount: 3 },
  });
  const run = async (manifests: readonly Manifest[], more: Partial<ApplyOptions> = {}) => {
    const events: ApplyEvent[] = [];
    const report = await applyManifests({
      client,
      host,
      manifests,
      deadlineMs: 20_000,
      onEvent: (event) => events.push(event),
      ...more,
    });
    return { report, events };
  };

  test('objects may come before their namespace and their kind; status is filled', async () => {
    const manifests = [
      manifest('01.yaml', configMap('inside', { a: '1' }, 'early')),
      manifest('02.yaml', pool('master')),
      ...machineConfigCrds.map((crd, n) => manifest(`03-crd-${n}.yaml`, crd)),
      manifest('04.yaml', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'early' } }),
    ];
    const { report, events } = await run(manifests);
    expect(report).toMatchObject({ isComplete: true, missing: [] });
    expect(report.objects.map(({ state }) => state)).toEqual(manifests.map(() => 'created'));
    const made = events.filter(({ state }) => state === 'created').map(({ object }) => object?.name ?? '');
    expect(made[0]).toBe('early');
    expect(made.indexOf('master')).toBeGreaterThan(
      made.indexOf('machineconfigpools.machineconfiguration.openshift.io'),
    );
    expect(events.filter(({ state }) => state === 'waiting').every(({ level }) => level === 'debug')).toBe(true);
    const status = plane.kubectl('get', 'machineconfigpool', 'master', '-o', 'jsonpath={.status.machineCount}');
    expect(status.output).toBe('3');
  });

  test('a second run finds everything present, also what somebody changed; force makes it ours again', async () => {
    const manifests = [manifest('cm.yaml', configMap('kept', { a: 'ours' }))];
    await run(manifests);
    plane.kubectl('patch', 'cm', 'kept', '-p', '{"data":{"a":"theirs"}}');
    expect((await run(manifests)).report.objects[0]?.state).toBe('present');
    expect(plane.kubectl('get', 'cm', 'kept', '-o', 'jsonpath={.data.a}').output).toBe('theirs');
    expect((await run(manifests, { force: true })).report.objects[0]?.state).toBe('changed');
    expect(plane.kubectl('get', 'cm', 'kept', '-o', 'jsonpath={.data.a}').output).toBe('ours');
    expect((await run(manifests, { force: true })).report.objects[0]?.state).toBe('present');
  });

  test('a bad manifest is named and blocks no other; what never comes is named at the deadline', async () => {
    const manifests = [
      manifest('typo.yaml', { ...configMap('typo', {}), dat: {} }),
      manifest('text.yaml', 'not an object'),
      manifest('no-kind.yaml', { apiVersion: 'v1', metadata: { name: 'x' } }),
      manifest('unknown.yaml', { apiVersion: 'example.test/v1', kind: 'Never', metadata: { name: 'x' } }),
      manifest('good.yaml', configMap('good', {})),
    ];
    const { report, events } = await run(manifests, { deadlineMs: 1_000 });
    expect(report.isComplete).toBe(false);
    expect(report.objects.map(({ state }) => state)).toEqual(['refused', 'refused', 'refused', 'waiting', 'created']);
    expect(report.missing[0]).toMatch(/^ConfigMap default\/typo \(typo.yaml\): .*unknown field "dat"/);
    expect(report.missing[1]).toBe('text.yaml: it is not an object');
    expect(report.missing[3]).toContain('does not know Never of example.test/v1');
    expect(events.filter(({ source }) => source === 'unknown.yaml')).toHaveLength(1);
  });

  test('an apply that was aborted half-way continues where it stopped', async () => {
    const manifests = Array.from({ length: 30 }, (_, n) => manifest(`${n}.yaml`, configMap(`step-${n}`, {})));
    const stop = new AbortController();
    const reason = new Error('killed');
    const onEvent = ({ source }: ApplyEvent): void => (source === '4.yaml' ? stop.abort(reason) : undefined);
    const first = applyManifests({ client, host, manifests, deadlineMs: 20_000, signal: stop.signal, onEvent });
    await expect(first).rejects.toBe(reason);
    const { report } = await run(manifests);
    const count = (wanted: string): number => report.objects.filter(({ state }) => state === wanted).length;
    expect(count('present')).toBeGreaterThanOrEqual(1);
    expect(count('created')).toBeGreaterThanOrEqual(1);
    expect(count('present') + count('created')).toBe(30);
  });
});

const fastTimes: LeaseTimes = { leaseMs: 3_000, renewMs: 2_000, retryMs: 300 };

function holder(identity: string, more: Partial<ElectionOptions> = {}) {
  const stop = new AbortController();
  const acts: number[] = [];
  const state = { mayAct: () => false };
  const running = leadWhile(
    { client, host, namespace: 'default', name: 'one', identity, times: fastTimes, signal: stop.signal, ...more },
    async (leadership) => {
      state.mayAct = () => leadership.mayAct();
      while (!leadership.signal.aborted) {
        if (leadership.mayAct()) acts.push(performance.now());
        await host.clock.sleep(20);
      }
    },
  ).catch((error: unknown) => error);
  return { acts, mayAct: () => state.mayAct(), running, stop: () => stop.abort(new Error('stop')) };
}

/** The same in a process of its own, which can be killed. */
async function holderProcess(identity: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'lease-holder.ts'), plane.kubeconfig, identity, JSON.stringify(fastTimes)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

async function untilTrue(holds: () => boolean, limitMs = 20_000): Promise<number> {
  const started = performance.now();
  while (!holds()) {
    if (performance.now() - started > limitMs) throw new Error(`not within ${limitMs} ms: ${holds.toString()}`);
    await host.clock.sleep(10);
  }
  return performance.now() - started;
}

describe('a Lease', () => {
  test('when its holder is killed, another acts as soon as the lease has run out and not before', async () => {
    const killed = await holderProcess('killed');
    // A clock that is a day ahead must not make it impatient.
    const ahead = { ...host.clock, now: () => new Date(Date.now() + 86_400_000) };
    const other = holder('other', { host: { ...host, clock: ahead } });
    await host.clock.sleep(1_500);
    expect(other.acts).toEqual([]);
    killed.kill('SIGKILL');
    const waitedMs = await untilTrue(() => other.acts.length > 0);
    expect(waitedMs).toBeGreaterThan(fastTimes.leaseMs - fastTimes.retryMs * 1.2 - 300);
    expect(waitedMs).toBeLessThan(fastTimes.leaseMs + 3_000);
    const lease = plane.kubectl(
      'get',
      'lease',
      'one',
      '-o',
      'jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}',
    );
    expect(lease.output).toBe('other 1');
    other.stop();
    await other.running;
  });

  test('a holder that leaves gives it back: the next one acts at once, and never two at a time', async () => {
    const [first, second] = [holder('first'), holder('second')];
    await untilTrue(() => first.acts.length + second.acts.length > 5);
    const [now, next] = first.acts.length > 0 ? [first, second] : [second, first];
    expect(next.acts).toEqual([]);
    now.stop();
    await now.running;
    const waitedMs = await untilTrue(() => next.acts.length > 0);
    expect(waitedMs).toBeLessThan(1_500);
    expect(Math.max(...now.acts)).toBeLessThan(Math.min(...next.acts));
    next.stop();
    await next.running;
  });
});

describe('an API server that goes away and comes back', () => {
  test('a watch goes on where it was, and a holder of a Lease does not act meanwhile', async () => {
    const stop = new AbortController();
    const states: string[][] = [];
    const troubles: string[] = [];
    const watching = (async () => {
      const options = {
        client,
        host,
        kind: { apiVersion: 'v1', kind: 'ConfigMap' },
        selection: { namespace: 'default', labelSelector: 'watched' },
        signal: stop.signal,
        onTrouble: ({ code }: FirstlightError) => troubles.push(code),
      };
      for await (const items of watchObjects(options))
        states.push(items.map(({ metadata }) => metadata.name).toSorted());
    })().catch((error: unknown) => error);
    const leader = holder('leader');
    const make = (name: string): void => {
      plane.kubectl('create', 'configmap', name);
      plane.kubectl('label', 'configmap', name, 'watched=yes');
    };
    make('before');
    await untilTrue(() => states.at(-1)?.includes('before') === true && leader.acts.length > 0);
    await plane.kill('kube-apiserver');
    await untilTrue(() => !leader.mayAct(), fastTimes.renewMs + 1_000);
    plane.start('kube-apiserver');
    await plane.until('the API to be ready again', () => plane.kubectl('get', '--raw', '/readyz').output === 'ok');
    make('after');
    await untilTrue(() => states.at(-1)?.includes('after') === true);
    expect(states.at(-1)).toEqual(['after', 'before']);
    expect(troubles).toContain('KUBERNETES_UNREACHABLE');
    await untilTrue(() => leader.mayAct());
    leader.stop();
    stop.abort(new Error('stop'));
    await Promise.all([leader.running, watching]);
  });
});

describe('a kubeconfig on the disk', () => {
  test('a credential that was replaced in its files is used by the next request', async () => {
    const admin = JSON.parse(
      plane.kubectl('config', 'view', '--raw', '--minify', '--flatten', '-o', 'json').output,
    ) as { users: { user: Record<string, string> }[] };
    const user = admin.users[0]?.user ?? {};
    const [crt, key] = [join(plane.folder, 'rotating.crt'), join(plane.folder, 'rotating.key')];
    const write = (name: string): void => {
      const other = plane.signer('kubelet-signer');
      const good = name === 'good';
      writeFileSync(crt, good ? Buffer.from(user['client-certificate-data'] ?? '', 'base64') : other.certificatePem);
      writeFileSync(key, good ? Buffer.from(user['client-key-data'] ?? '', 'base64') : other.key.privatePem.reveal());
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: plane.server, 'certificate-authority': 'pki/apiserver-ca.crt' } }],
      users: [{ name: 'u', user: { 'client-certificate': 'rotating.crt', 'client-key': 'rotating.key' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    const path = join(plane.folder, 'rotating.kubeconfig');
    writeFileSync(path, JSON.stringify(config));
    write('bad');
    await using rotating = await connectKubernetes(host, { path });
    const nodes = (): Promise<string> => codeOf(rotating.list({ apiVersion: 'v1', kind: 'Node' }));
    expect(await nodes()).not.toBe('no error');
    write('good');
    expect(await nodes()).toBe('no error');
  });
});
