// The point of no return, on record: the masters carry the cluster. Written through a master and read back through it.
import { apiPort } from '../../assets/cluster-names.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { BootkubeContext } from '../context.ts';
import { handoffMark } from '../journal-folder.ts';
import { clientFor } from '../remote-api.ts';

const record = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'bootstrap' } as const;

export const commit: Stage<BootkubeContext> = {
  name: 'commit',
  why: 'Whoever looks after etcd next must know that the bootstrap member may go.',
  inputs: [],
  outputs: ['ConfigMap kube-system/bootstrap says complete'],
  observe: async ({ host }) =>
    (await host.files.facts(handoffMark)) === undefined
      ? { status: 'needed', because: 'the record is looked at anew each time' }
      : { status: 'done' },
  run: async (context, { signal }) => {
    const server = await aServingMaster(context);
    await using client = await clientFor(context, server);
    const { namespace, name, apiVersion, kind } = record;
    await client.apply(
      { apiVersion, kind, metadata: { name, namespace }, data: { status: 'complete' } },
      { signal, force: true },
    );
    await client.get(record, { signal });
    return { inputs: {}, outputs: {}, note: `written through ${server}` };
  },
  verify: [],
};

async function aServingMaster(context: BootkubeContext): Promise<string> {
  const { host, inventory } = context;
  const ca = await host.files.readText('/etc/kubernetes/pki/apiserver-ca.crt');
  for (const { role, addresses } of inventory.machines) {
    if (role !== 'master') continue;
    const url = `https://${addresses[0]}:${apiPort}`;
    const answer = await host.network.request({ url: `${url}/readyz`, ca, timeoutMs: 2_000 }).catch(() => undefined);
    if (answer?.status === 200) return url;
  }
  return context.names.apiInternalUrl;
}
