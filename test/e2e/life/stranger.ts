// Somebody who holds a pool token and asks for more than a machine of the inventory may have.
import { afterAll, expect, test } from 'vitest';
import { ask, freshToken, type HostileRequest, tokenIn } from '../hostile-requests.ts';
import { eventually, inside } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';

export function strangerTopic(cluster: TrustCluster): void {
  const hostile: readonly (HostileRequest & { readonly why: string })[] = [
    { name: 'taken', subject: '/O=system:nodes/CN=system:node:worker-0', why: 'a live node is called worker-0' },
    { name: 'unknown', subject: '/O=system:nodes/CN=system:node:worker-77', why: 'worker-77' },
    { name: 'greedy', subject: '/O=system:nodes/O=system:masters/CN=system:node:worker-77', why: 'system:masters' },
    {
      name: 'usage',
      subject: '/O=system:nodes/CN=system:node:worker-77',
      usages: ['digital signature', 'server auth'],
      why: 'usages',
    },
  ];

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', 'csr', '--ignore-not-found', ...hostile.map(({ name }) => name));
  });

  test('gets nothing approved beyond its own name, and an event says why', async () => {
    const stranger = { dir: cluster.dir, infraId: cluster.infraId(), scratch: cluster.folder };
    const token = await freshToken(stranger, 'worker-0');
    for (const request of hostile) expect(await ask(stranger, token, request)).toBe('');
    for (const { name, why } of hostile) {
      const said = await eventually(`an event on ${name}`, 30, async () => {
        const text = await trustKubectl(
          cluster,
          'get',
          'events',
          '-A',
          '--field-selector',
          `involvedObject.name=${name}`,
        );
        return text.includes('Not approved') ? text : undefined;
      });
      expect(said).toContain(why);
      expect(await trustKubectl(cluster, 'get', 'csr', name, '-o', 'jsonpath={.status}')).toBe('{}');
    }
  });

  test('cannot ask again with a token that a machine has used', async () => {
    const used = tokenIn(await inside(cluster.infraId(), 'worker-0', 'cat /etc/kubernetes/kubeconfig'));
    const request = { name: 'used', subject: '/O=system:nodes/CN=system:node:worker-77' };
    expect(await ask({ dir: cluster.dir, infraId: cluster.infraId(), scratch: cluster.folder }, used, request)).toMatch(
      /provide credentials|Unauthorized/,
    );
  });
}
