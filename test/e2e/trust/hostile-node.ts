// A node that wants the traffic of others: with the real identity of a kubelet it changes its own Node, and a Node that
// the API should never have taken asks for addresses that are not its own. No route of another machine follows.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AgentState } from '../../../src/contract/agent-state.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import { connectKubernetes } from '../../../src/kubernetes/client.ts';
import { masters } from '../fire/fire-cluster.ts';
import { cli, eventually, inside } from '../machine-lab.ts';
import { approvedIdentity, type MachineIdentity, stolenIdentity } from './machine-identity.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

/** Whose routes must not change: also those of the worker itself, which knows the inventory by its own right to read it. */
const machines = [...masters, 'worker-0'];
const lists = ['evil-balancer', 'evil-part', 'worker-9'];

interface NodeObject {
  readonly spec: { readonly podCIDR?: string };
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
}

export function hostileNodeTopic(cluster: TrustCluster): void {
  let worker: MachineIdentity;
  let before: readonly string[];

  beforeAll(async () => {
    worker = await stolenIdentity(cluster, 'worker-0');
    before = await routesOfMachines(cluster);
    // Otherwise the kubelet reports its true addresses again within seconds.
    await inside(cluster.infraId(), 'worker-0', 'systemctl stop kubelet');
  });

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', 'nodes', '--ignore-not-found', ...lists);
    await inside(cluster.infraId(), 'worker-0', 'systemctl start kubelet');
    await eventually('that worker-0 reports its own address again', 30, async () => {
      const { status } = await trustKubectlJson<NodeObject>(cluster, 'get', 'node', 'worker-0');
      return status.addresses.some(({ address }) => address === '10.99.0.21') ? true : undefined;
    });
    await trustKubectl(cluster, 'wait', '--for=condition=Ready', 'node/worker-0', '--timeout=60s');
  });

  test('a kubelet chooses no pod range, neither a new one nor its first', async () => {
    const patch = JSON.stringify({ spec: { podCIDR: '0.0.0.0/0', podCIDRs: ['0.0.0.0/0'] } });
    expect(await worker.kubectl('patch', 'node', 'worker-0', '--type=merge', '-p', patch)).not.toMatchObject({
      code: 0,
    });
    expect(await worker.kubectl('delete', 'node', 'worker-0')).toMatchObject({
      text: expect.stringContaining('forbidden'),
    });
    const newcomer = await approvedIdentity(cluster, 'worker-9');
    const refused = await newcomer.kubectl('create', '-f', nodeFile(cluster, 'worker-9', '10.99.0.1', '0.0.0.0/0'));
    expect(refused.text).toContain('a kubelet does not choose the pod ranges of its node');
    expect(await newcomer.kubectl('create', '-f', nodeFile(cluster, 'worker-9', '10.99.0.1'))).toMatchObject({
      code: 0,
    });
  });

  test('no route of a machine follows what nodes write, and the honest node keeps its own', async () => {
    const addresses = [{ type: 'InternalIP', address: '10.99.0.11' }];
    // Not by kubectl: it reads the status first, which a node may write and not read.
    await using client = await connectKubernetes(realHost(), { path: worker.kubeconfig });
    const own = { apiVersion: 'v1', kind: 'Node', name: 'worker-0' };
    const lied = await client.mergePatch(own, { status: { addresses } }, { subresource: 'status' });
    expect(lied).toMatchObject({ status: { addresses } });
    // As if the API had let them in: ranges outside of every other, so that the controller manager gives none of them away.
    await trustKubectl(cluster, 'create', '-f', nodeFile(cluster, 'evil-balancer', '10.99.0.77', '10.99.0.1/32'));
    await trustKubectl(cluster, 'create', '-f', nodeFile(cluster, 'evil-part', '10.99.0.78', '10.131.254.0/24'));
    for (const machine of machines) {
      const note = await eventually(`a word of ${machine} about all of them`, 20, async () => {
        const said = await routesNote(cluster, machine);
        return lists.every((name) => said.includes(`${name} gets no route`)) ? said : undefined;
      });
      expect(note).toContain('evil-balancer gets no route for "10.99.0.1/32": it is not one part');
      expect(note).toContain('evil-part gets no route for "10.131.254.0/24": it is not one part');
    }
    expect(await routesOfMachines(cluster)).toEqual(before);
  });

  test('pods of all nodes are reached from every master', async () => {
    const { items } = await trustKubectlJson<{ items: readonly { status: { podIP: string } }[] }>(
      cluster,
      'get',
      'pods',
      '--namespace=kube-system',
      '--selector=k8s-app=kube-dns',
    );
    expect(items.length).toBeGreaterThan(0);
    for (const { status } of items) {
      for (const master of masters) {
        await inside(cluster.infraId(), master, `timeout 5 bash -c 'exec 3<>/dev/tcp/${status.podIP}/53'`);
      }
    }
    expect(await cli('kubectl', '--dir', cluster.dir, 'get', '--raw', '/readyz')).toBe('ok');
  });
}

async function routesOfMachines(cluster: TrustCluster): Promise<readonly string[]> {
  const all = await Promise.all(
    machines.map((machine) => inside(cluster.infraId(), machine, 'ip -4 route; ip -6 route show proto 241')),
  );
  // Links of pods come and go.
  return all.map((text) =>
    text
      .split('\n')
      .filter((line) => !/ dev veth/.test(line))
      .sort()
      .join('\n'),
  );
}

async function routesNote(cluster: TrustCluster, machine: string): Promise<string> {
  const state = JSON.parse(
    await inside(cluster.infraId(), machine, 'cat /var/lib/firstlight/agent.json'),
  ) as AgentState;
  return state.duties.find(({ name }) => name === 'peer-routes')?.note ?? '';
}

function nodeFile(cluster: TrustCluster, name: string, address: string, podCIDR?: string): string {
  const file = join(cluster.folder, `${name}.json`);
  const spec = podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] };
  const status = { addresses: [{ type: 'InternalIP', address }] };
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec, status }));
  return file;
}
