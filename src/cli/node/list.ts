// `firstlight node list`
import { alignColumns } from '../frame/columns.ts';
import { defineVerb } from '../frame/verb.ts';

export const nodeListVerb = defineVerb({
  examples: ['firstlight node list', 'firstlight node list -o json'],
  run: async ({ host, global, signal }) => {
    const { listNodes } = await import('../../cluster/cluster-nodes.ts');
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { inventory } = await mustFindCluster(host, global.dir);
    await using client = await connectCluster(host, global.dir);
    const nodes = await listNodes(client, signal);
    const expected = inventory.machines.filter(({ role }) => role !== 'bootstrap');
    const data = expected.map(({ name, role, addresses: [address = ''] }) => {
      const node = nodes.find((one) => one.name === name);
      const state = node === undefined ? 'not joined' : node.isReady ? 'Ready' : 'NotReady';
      return {
        name,
        role,
        address,
        state,
        version: node?.version ?? null,
        reason: node?.isReady ? null : (node?.reason ?? null),
      };
    });
    const rows = data.map(({ name, role, address, state, version }) => [name, role, address, state, version ?? '-']);
    return { data, text: alignColumns([['NAME', 'ROLE', 'ADDRESS', 'STATE', 'VERSION'], ...rows]) };
  },
});
