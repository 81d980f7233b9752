// The config servers of masters against the real kube-apiserver: two of them, with the rights of an agent and no more,
// asked by the real Ignition. What one has given the other must not give again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBootstrapToken, secretKind, tokenSelection } from '../../src/admission/bootstrap-token-secret.ts';
import { servedPaths } from '../../src/config-server/served-config.ts';
import { poolTokensSecret } from '../../src/contract/cluster-objects.ts';
import { masterKeyFiles, masterKeysSchema } from '../../src/control-plane/master-keys.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { sshMachineConfig } from '../../src/machine-config/base-machine-configs.ts';
import { apiVersion, generatedAnnotation, roleLabel } from '../../src/machine-config/machine-config.ts';
import { controllerConfigManifest, machineConfigManifest } from '../../src/machine-config/manifests.ts';
import { type AttemptLab, attemptLab } from './attempt-lab.ts';
import { ask, bearer, type Lab, type LabServer, makeLab, startServer, tokens } from './config-server-lab.ts';
import { applyTo, inventoryOf, poolTokensOf, prepareForConfigServers, startMaster } from './config-server-masters.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';
import { type Fetched, fetchPointer, fileAt } from './ignition-fetch.ts';
import { grantTests, payloadTests } from './in-place-grants.ts';
import { reporterTests, reportTests } from './in-place-progress.ts';
import { sampleFacts } from './machine-config-sample.ts';

const host = realHost();
const login = sshMachineConfig('worker', ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA somebody']);
let plane: ControlPlaneProcesses;
let lab: Lab;
let admin: KubernetesClient;
let servers: readonly [LabServer, LabServer];

const apply = (...objects: readonly object[]): void => applyTo(plane, ...objects);

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver']);
  lab = makeLab([login]);
  admin = await connectKubernetes(host, { path: plane.kubeconfig });
  await prepareForConfigServers(plane, lab);
  servers = [await startMaster(plane, lab), await startMaster(plane, lab)];
}, 120_000);

afterAll(async () => {
  const codes = await Promise.all((servers ?? []).map((server) => server.stop()));
  await admin?.[Symbol.asyncDispose]();
  lab?.[Symbol.dispose]();
  await plane?.stop();
  if (codes.some((code) => code !== 0)) throw new Error(`the servers ended with ${codes.join(' and ')}`);
}, 60_000);

async function healthIs(server: LabServer, status: number): Promise<void> {
  await expect.poll(async () => (await ask(lab, server, '/healthz')).status, { timeout: 20_000 }).toBe(status);
}

function fetchFrom(server: LabServer, pool: 'master' | 'worker', token = tokens[pool]): Promise<Fetched> {
  return fetchPointer({ token, pool, caPem: lab.rootCa.certificatePem, port: server.port, giveUp: 30 });
}

function tokenIn(config: IgnitionConfig | undefined): string {
  return /token: ([a-z0-9.]+)/.exec(fileAt(config, servedPaths.bootstrapKubeconfig))?.[1] ?? '';
}

function keysFrom(server: LabServer, token: string, redemption: string): ReturnType<typeof ask> {
  return ask(lab, server, '/keys/master', { headers: { ...bearer(token).headers, 'idempotency-key': redemption } });
}

describe('the config servers of two masters', () => {
  test('are healthy once the API tells what machines get and who is let in, and say until then what is missing', async () => {
    const missing = async (): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${servers[0].localPort}/healthz`)).json();
    await healthIs(servers[0], 503);
    await expect
      .poll(missing)
      .toMatchObject({ missing: expect.arrayContaining([expect.stringContaining('no ControllerConfig')]) });
    apply(controllerConfigManifest(sampleFacts), machineConfigManifest(login));
    await expect
      .poll(missing)
      .toMatchObject({ missing: expect.arrayContaining([expect.stringContaining(poolTokensSecret.name)]) });
    apply(poolTokensOf(['master', tokens.master], ['worker', tokens.worker]));
    for (const server of servers) await healthIs(server, 200);
  });

  test('give the real Ignition the same as the bootstrap machine, and a token that the API accepts', async () => {
    const bootstrap = await startServer(lab);
    try {
      for (const pool of ['master', 'worker'] as const) {
        const [first, second, before] = await Promise.all(
          [...servers, bootstrap].map((server) => fetchFrom(server, pool)),
        );
        for (const { code, output } of [first!, second!, before!]) expect(code, output).toBe(0);
        const annotations = [first, second, before].map((one) => fileAt(one?.config, servedPaths.nodeAnnotations));
        expect(new Set(annotations).size).toBe(1);
        expect(tokenIn(first!.config)).not.toBe(tokenIn(second!.config));
        const token = tokenIn(first!.config);
        expect(await findBootstrapToken(admin, token.slice(0, 6))).toMatchObject({ pool });
        expect(servers[0].logText()).not.toContain(token);
        const caPem = plane.signer('apiserver-serving-signer').certificatePem;
        const own = {
          cluster: 'c',
          server: plane.server,
          caPem,
          user: 'u',
          credential: { kind: 'token', token },
        } as const;
        await using client = await connectKubernetes(host, { text: kubeconfigText(own) });
        const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
        expect(await client.create(review)).toMatchObject({
          status: { userInfo: { username: `system:bootstrap:${token.slice(0, 6)}` } },
        });
      }
    } finally {
      expect(await bootstrap.stop()).toBe(0);
    }
  });

  test('give the keys of a master once, whichever of them is asked', async () => {
    const { config } = await fetchFrom(servers[0], 'master');
    const token = tokenIn(config);
    const answers = await Promise.all(
      servers.flatMap((server, index) =>
        Array.from({ length: 4 }, (_, n) => keysFrom(server, token, `the-machine-number-${index}-${n}`)),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 511)).toHaveLength(7);
    const winner = answers.findIndex(({ status }) => status === 200);
    const { files } = masterKeysSchema.parse(JSON.parse(answers[winner]!.body));
    expect(Object.keys(files)).toEqual(masterKeyFiles);
    // Its answer was lost: it may ask the other server.
    const redemption = `the-machine-number-${Math.floor(winner / 4)}-${winner % 4}`;
    const again = await Promise.all(servers.map((server) => keysFrom(server, token, redemption)));
    expect(again.map(({ status, body }) => [status, body === answers[winner]!.body])).toEqual([
      [200, true],
      [200, true],
    ]);
    const worker = tokenIn((await fetchFrom(servers[1], 'worker')).config);
    expect((await keysFrom(servers[0], worker, 'the-machine-number-9')).status).toBe(511);
    expect((await keysFrom(servers[0], 'abcdef.0123456789abcdef', 'the-machine-number-9')).status).toBe(511);
    expect(servers.map((server) => server.logText()).join('')).not.toContain('PRIVATE KEY');
  });

  test('give them to no second machine while every listed master runs, and tell by an Event to whom they gave them', async () => {
    const machines = [{ name: 'master-0', role: 'master' as const, addresses: ['127.0.0.1'] }];
    apply(inventoryOf({ isClosed: true, machines }));
    apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'master-0' } });
    const ready = (status: string): void => {
      const patch = { status: { conditions: [{ type: 'Ready', status, reason: 'x', message: 'x' }] } };
      const args = ['patch', 'node', 'master-0', '--subresource=status', '--type=merge', '-p', JSON.stringify(patch)];
      expect(plane.kubectl(...args)).toMatchObject({ code: 0 });
    };
    ready('True');
    const token = tokenIn((await fetchFrom(servers[1], 'master')).config);
    expect((await keysFrom(servers[0], token, 'a-second-master-here')).status).toBe(511);
    await servers[0].logged(({ detail }) => detail === 'live');
    ready('Unknown');
    expect((await keysFrom(servers[0], token, 'the-machine-made-anew')).status).toBe(200);
    const events = plane.kubectl('get', 'events', '-n', 'kube-system', '-o', 'jsonpath={.items[*].message}').output;
    expect(events).toContain(`given to master-0 at an address that is not known, for token ${token.slice(0, 6)}`);
    expect(plane.kubectl('delete', 'node', 'master-0')).toMatchObject({ code: 0 });
    apply(inventoryOf({ isClosed: false, machines: [] }));
  });

  test('spend no request to the API on a stranger, whatever he asks and with whatever he shows', async () => {
    const reads = (): number => {
      const { output } = plane.kubectl('get', '--raw', '/metrics');
      const counts = output
        .split('\n')
        .filter((line) => /^apiserver_request_total\{.*resource="secrets".*verb="GET"/.test(line));
      return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = reads();
    const guesses = Array.from({ length: 300 }, (_, n) => `${String(n).padStart(6, '0')}.0123456789abcdef`);
    for (const [index, token] of guesses.entries()) {
      const method = index % 2 === 0 ? 'POST' : 'GET';
      const path = index % 3 === 0 ? '/keys/master' : `/keys/whatever-${index}`;
      const headers = { ...bearer(token).headers, 'idempotency-key': 'of-a-stranger-here' };
      expect((await ask(lab, servers[0], path, { method, headers })).status).toBe(511);
    }
    // The few that the share of an address allows, for a token that has not arrived in the watch.
    expect(reads() - before).toBeLessThan(8);
  });

  test('give the rendered configuration that a machine names, as long as the API has it', async () => {
    const name = `rendered-worker-${'0'.repeat(32)}`;
    const annotations = { [generatedAnnotation]: 'test' };
    const motd = { path: '/etc/motd', contents: { source: 'data:,named' } };
    const config = { ignition: { version: '3.5.0' }, storage: { files: [motd] } };
    apply({ apiVersion, kind: 'MachineConfig', metadata: { name, annotations }, spec: { config } });
    const headers = (of: string) => ({
      headers: { ...bearer(tokens.worker).headers, NodePool: 'worker', TargetConfigVersionHash: of },
    });
    const asked = (of: string) => ask(lab, servers[0], '/config/worker', headers(of));
    await expect.poll(async () => (await asked(name)).body).toContain('data:,named');
    const other = await asked(name.replace('0', '1'));
    expect(other).toMatchObject({ status: 404, headers: { 'x-mcs-reason': 'target-unknown' } });
    plane.kubectl('delete', 'machineconfig', name);
    await expect.poll(async () => (await asked(name)).status).toBe(404);
  });

  test('take up a MachineConfig at once, go on with the last good one after a bad one, and follow a rotated join key', async () => {
    const namesAt = async (token: string): Promise<string> => {
      const { config, output } = await fetchFrom(servers[0], 'worker', token);
      expect(config, output).toBeDefined();
      return JSON.parse(fileAt(config, servedPaths.nodeAnnotations))[`${apiVersion.split('/')[0]}/currentConfig`];
    };
    const first = await namesAt(tokens.worker);
    const config = {
      ignition: { version: '3.2.0' },
      storage: { files: [{ path: '/etc/motd', contents: { source: 'data:,hi' } }] },
    };
    const motd = {
      apiVersion,
      kind: 'MachineConfig',
      metadata: { name: '99-motd', labels: { [roleLabel]: 'worker' } },
    };
    apply({ ...motd, spec: { config } });
    await expect.poll(() => namesAt(tokens.worker), { timeout: 20_000 }).not.toBe(first);
    const second = await namesAt(tokens.worker);
    apply({ ...motd, spec: { config: { ignition: { version: '2.2.0' } } } });
    await servers[0].logged(({ text }) => String(text).includes('99-motd cannot be used'));
    expect(await namesAt(tokens.worker)).toBe(second);
    await healthIs(servers[0], 200);
    apply(poolTokensOf(['master', tokens.master], ['worker', tokens.expired]));
    await expect.poll(async () => (await fetchFrom(servers[0], 'worker', tokens.expired)).code).toBe(0);
    expect((await ask(lab, servers[0], '/config/worker', bearer(tokens.worker))).status).toBe(511);
  });

  test('give nothing while the API is away and serve again by themselves when it is back', async () => {
    const before = (await admin.list(secretKind, tokenSelection)).items.length;
    await plane.kill('kube-apiserver');
    const refused = await ask(lab, servers[1], '/config/master', bearer(tokens.master));
    expect(refused).toMatchObject({ status: 503, headers: { 'x-mcs-reason': 'token-not-recorded' } });
    plane.start('kube-apiserver');
    const { code, output } = await fetchFrom(servers[1], 'master');
    expect(code, output).toBe(0);
    await plane.until('the API', () => plane.kubectl('get', '--raw', '/readyz').output === 'ok');
    expect((await admin.list(secretKind, tokenSelection)).items.length).toBeGreaterThan(before);
  }, 60_000);
});

describe('the in-place bootstrapper', () => {
  let attempts: AttemptLab;
  beforeAll(() => {
    attempts = attemptLab({ plane, lab, servers });
  });
  const at = (): AttemptLab => attempts;
  describe('reports by curl', () => {
    reportTests(at);
  });
  describe('the grant of a pod', () => {
    grantTests(at);
  });
  describe('the payload service', () => {
    payloadTests(at);
  });
  describe('the reporter of a host', () => {
    reporterTests(at);
  });
});
