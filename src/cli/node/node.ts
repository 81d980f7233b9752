// `firstlight node add | remove | list`
import { z } from 'zod';
import { listNodes } from '../../cluster/cluster-nodes.ts';
import { mustFindCluster } from '../../cluster/find-cluster.ts';
import { connectCluster } from '../../cluster/cluster-kubeconfig.ts';
import { addNodes, removeNode } from '../../cluster/change-nodes.ts';
import type { CommandBody } from '../frame/verb.ts';
import { alignColumns } from '../machine/machine-table.ts';
import { patienceOf } from '../cluster/wait-options.ts';

const addOptions = z.looseObject({ wait: z.boolean().default(true) });

export const nodeAdd: CommandBody = async (invocation) => {
  const { args, global } = invocation;
  const { wait } = addOptions.parse(invocation.options);
  const patience = wait ? patienceOf(invocation) : undefined;
  const added = await addNodes({ ...invocation, dir: global.dir, names: [...new Set(args)], patience });
  const list = added.map(({ name, addresses }) => `${name} (${addresses.join(', ')})`).join(', ');
  return { data: { added, isReady: wait }, text: `${list} ${wait ? 'Ready' : 'started'}\n` };
};

export const nodeRemove: CommandBody = async (invocation) => {
  const { force } = z.looseObject({ force: z.boolean().default(false) }).parse(invocation.options);
  const [name = ''] = invocation.args;
  await removeNode({ ...invocation, dir: invocation.global.dir, name, isForced: force });
  return { data: { removed: name }, text: `removed ${name}\n` };
};

export const nodeList: CommandBody = async ({ host, global, signal }) => {
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
};
