// A machine that floods the API with certificate requests, with its real identity: large ones, which the API refuses, and
// which the approver survives where nobody refuses them; and many small ones. An honest request is approved all the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isError } from '../../../src/errors/firstlight-error.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import { connectKubernetes, type KubernetesClient } from '../../../src/kubernetes/client.ts';
import { kubernetesErrors } from '../../../src/kubernetes/errors.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { requestObject, signingRequest } from '../certificate-request.ts';
import { masters } from '../fire/fire-cluster.ts';
import { isLong } from '../fire/long.ts';
import { cli, eventually, inside, startCli } from '../machine-lab.ts';
import { stolenIdentity } from './machine-identity.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

const policy = 'certificate-requests.firstlight.io';
const largeCount = isLong ? 500 : 20;
const smallCount = isLong ? 3000 : 300;
const largeBytes = 1_400_000;
const serving = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] };

export function requestFloodTopic(cluster: TrustCluster): void {
  let flood: KubernetesClient;
  let pem: string;
  let agents: readonly AgentLife[];

  beforeAll(async () => {
    const { kubeconfig } = await stolenIdentity(cluster, 'worker-0');
    flood = await connectKubernetes(realHost(), { path: kubeconfig });
    const subject = '/O=system:nodes/CN=system:node:worker-0';
    pem = signingRequest(join(cluster.folder, 'flood.key'), subject, '-addext', 'subjectAltName=DNS:elsewhere');
    agents = await livesOf(cluster);
  });

  afterAll(async () => {
    await flood[Symbol.asyncDispose]();
    await eventually('that the flood is over', 60, () => succeeds(() => removeFlood(cluster)));
  });

  test('requests of 1.4 MB are refused before they are stored, and delay nobody', async () => {
    await Promise.all([
      inFours(largeCount, async (n) => isRefused(flood, floodObject(`refused-${n}`, pem, largeBytes))),
      expectApproval(cluster, 'during-refusals'),
    ]);
    expect(await leftOf(cluster, 'refused')).toBe(0);
    const held = { ...floodObject('held', pem, 0), metadata: { name: 'held', finalizers: ['example.test/stay'] } };
    await expect(flood.create(held)).rejects.toThrow(/cannot keep its certificate request/);
  });

  test('where it is stored, the approver survives a flood of them, and removes it', async () => {
    const binding = await trustKubectl(cluster, 'get', 'validatingadmissionpolicybinding', policy, '-o', 'json');
    const file = join(cluster.folder, 'binding.json');
    writeFileSync(file, binding);
    await trustKubectl(cluster, 'delete', 'validatingadmissionpolicybinding', policy);
    try {
      await eventually('that the API takes a large request', 30, () =>
        succeeds(() => createOnce(flood, floodObject('first', pem, largeBytes))),
      );
      await Promise.all([
        post(flood, 'large', { count: largeCount, pem, bytes: largeBytes }),
        expectApproval(cluster, 'during-large'),
      ]);
      await expectApproval(cluster, 'after-large');
      await eventually('that all of them are removed', isLong ? 120 : 40, () => isAtMost(0, leftOf(cluster, 'large')));
    } finally {
      await eventually('that the policy holds again', 30, () =>
        succeeds(() => trustKubectl(cluster, 'apply', '-f', file)),
      );
    }
    await expectSameAgents(cluster, agents);
  });

  test('many small requests of one machine are cut back to a few, and delay nobody', async () => {
    await Promise.all([
      post(flood, 'small', { count: smallCount, pem, bytes: 0 }),
      expectApproval(cluster, 'during-small'),
    ]);
    await expectApproval(cluster, 'after-small');
    await eventually('that twenty are left', isLong ? 120 : 40, () => isAtMost(20, leftOf(cluster, 'small')));
    await expectSameAgents(cluster, agents);
  });

  test.runIf(isLong)('a machine joins while the flood goes on', async () => {
    const startedMs = Date.now() - 1_000;
    let isOver = false;
    const joining = cli('node', 'add', 'worker-1', '--dir', cluster.dir).finally(() => (isOver = true));
    const large = (n: number): KubernetesObject => floodObject(`refused-${n}`, pem, largeBytes);
    const small = (n: number): KubernetesObject => floodObject(`small-again-${n}`, pem, 0);
    const attempt = async (n: number): Promise<true | undefined> => {
      if (isOver) return true;
      return n % 2 === 0 ? isRefused(flood, large(n)) : succeeds(() => createOnce(flood, small(n)));
    };
    await Promise.all([joining, inFours(5_000, attempt)]);
    expect(await trustKubectl(cluster, 'get', 'nodes')).toMatch(/worker-1 +Ready/);
    const { items } = await trustKubectlJson<{ items: readonly RequestState[] }>(cluster, 'get', 'csr');
    const made = items.filter(({ metadata }) => Date.parse(metadata.creationTimestamp) >= startedMs);
    const approved = made.filter(({ status }) => status.certificate !== undefined);
    expect(approved.length).toBeGreaterThan(0);
    for (const request of approved) expect(secondsToApproval(request)).toBeLessThanOrEqual(10);
    await cli('node', 'remove', 'worker-1', '--dir', cluster.dir);
    await expectSameAgents(cluster, agents);
  });
}

/** A true request, followed by what makes it large; the API reads the first block and stores all of it. */
function floodObject(name: string, pem: string, bytes: number): KubernetesObject {
  const object = requestObject(name, pem.padEnd(bytes, 'flood\n'), serving) as KubernetesObject;
  return { ...object, metadata: { name, labels: { flood: 'yes' } } };
}

async function succeeds(act: () => Promise<unknown>): Promise<true | undefined> {
  try {
    await act();
    return true;
  } catch {
    return undefined;
  }
}

interface Flood {
  readonly count: number;
  readonly pem: string;
  readonly bytes: number;
}

/** Until the API has taken all of them. */
async function post(client: KubernetesClient, name: string, { count, pem, bytes }: Flood): Promise<void> {
  await inFours(count, (n) => succeeds(() => createOnce(client, floodObject(`${name}-${n}`, pem, bytes))));
}

/** Four at a time. A busy API may cut a connection, and whoever floods asks again. */
async function inFours(count: number, attempt: (n: number) => Promise<true | undefined>): Promise<void> {
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await eventually(`an answer to request ${n}`, 60, () => attempt(n));
  };
  await Promise.all(Array.from({ length: 4 }, takeTurns));
}

/** For the right reason; undefined when there was no answer. */
async function isRefused(client: KubernetesClient, object: KubernetesObject): Promise<true | undefined> {
  try {
    await client.create(object);
  } catch (error) {
    return String(error).includes('at most 65536 bytes') ? true : undefined;
  }
  throw new Error(`the API took ${object.metadata.name}`);
}

async function createOnce(client: KubernetesClient, object: KubernetesObject): Promise<void> {
  try {
    await client.create(object);
  } catch (error) {
    if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
  }
}

/** Unknown while the API is too busy to answer. */
async function leftOf(cluster: TrustCluster, name: string): Promise<number | undefined> {
  const { code, stdout } = await startCli([
    'kubectl',
    '--dir',
    cluster.dir,
    'get',
    'csr',
    '-l',
    'flood=yes',
    '-o',
    'name',
  ]).outcome;
  return code === 0 ? stdout.split('\n').filter((line) => line.includes(`/${name}-`)).length : undefined;
}

async function isAtMost(most: number, count: Promise<number | undefined>): Promise<true | undefined> {
  return ((await count) ?? Number.POSITIVE_INFINITY) <= most ? true : undefined;
}

/** The request of a node that asks for what it may have: approved within ten seconds, by the API's own clock. */
async function expectApproval(cluster: TrustCluster, name: string): Promise<void> {
  const honest = await stolenIdentity(cluster, 'master-2');
  const keyPath = join(cluster.folder, `${name}.key`);
  const pem = signingRequest(
    keyPath,
    '/O=system:nodes/CN=system:node:master-2',
    '-addext',
    'subjectAltName=DNS:master-2',
  );
  const file = join(cluster.folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(requestObject(name, pem, serving)));
  // A kubelet, too, asks again when a busy API cuts its connection.
  await eventually(`an answer to ${name}`, 20, async () => {
    const { code, text } = await honest.kubectl('create', '-f', file);
    return code === 0 || text.includes('already exists') ? true : undefined;
  });
  const found = await eventually(`a certificate for ${name}`, 30, async () => {
    const { code, text } = await honest.kubectl('get', 'csr', name, '-o', 'json');
    const csr = code === 0 ? (JSON.parse(text) as RequestState) : undefined;
    return csr?.status.certificate === undefined ? undefined : csr;
  });
  expect(secondsToApproval(found)).toBeLessThanOrEqual(10);
  await eventually(`that ${name} is gone`, 20, () => succeeds(() => removeRequest(cluster, name)));
}

async function removeFlood(cluster: TrustCluster): Promise<string> {
  return trustKubectl(cluster, 'delete', 'csr', '-l', 'flood=yes', '--ignore-not-found', '--wait=false');
}

async function removeRequest(cluster: TrustCluster, name: string): Promise<string> {
  return trustKubectl(cluster, 'delete', 'csr', name, '--ignore-not-found');
}

function secondsToApproval({ metadata, status }: RequestState): number {
  const approved = status.conditions?.find(({ type }) => type === 'Approved');
  return (Date.parse(approved?.lastUpdateTime ?? '') - Date.parse(metadata.creationTimestamp)) / 1000;
}

interface RequestState {
  readonly metadata: { readonly creationTimestamp: string };
  readonly status: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly lastUpdateTime: string }[];
  };
}

interface AgentLife {
  readonly pid: string;
  readonly restarts: string;
  /** The most memory that it ever had, in KiB. */
  readonly peakKib: number;
}

async function livesOf(cluster: TrustCluster): Promise<readonly AgentLife[]> {
  const script =
    'systemctl show firstlight-agent -p MainPID -p NRestarts --value; ' +
    'grep VmHWM /proc/$(systemctl show firstlight-agent -p MainPID --value)/status';
  return Promise.all(
    masters.map(async (master) => {
      const [pid = '', restarts = '', peak = ''] = (await inside(cluster.infraId(), master, script)).split('\n');
      return { pid, restarts, peakKib: Number(/\d+/.exec(peak)?.[0]) };
    }),
  );
}

async function expectSameAgents(cluster: TrustCluster, before: readonly AgentLife[]): Promise<void> {
  const after = await livesOf(cluster);
  const identity = ({ pid, restarts }: AgentLife): string => `${pid} ${restarts}`;
  expect(after.map(identity)).toEqual(before.map(identity));
  for (const { peakKib } of after) expect(peakKib).toBeLessThan(220_000);
}
