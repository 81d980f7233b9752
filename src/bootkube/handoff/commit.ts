// Records in the API that the masters run the cluster; after this record the handoff cannot be undone. The record is
// written through a master and read back through the same master.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { handoffComplete, handoffConfigMap } from '../../contract/cluster-objects.ts';
import type { Stage } from '../../workflow/stage.ts';
import { clientFor } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { servingMasterUrl } from './control-planes.ts';

export const commit: Stage<BootkubeContext> = {
  name: 'commit',
  why: 'Writes into the cluster that the masters take over: from then on the bootstrap member of etcd may be removed.',
  observe: async ({ host }) =>
    (await host.files.facts(handoffMark)) === undefined
      ? { status: 'needed', because: 'the record is looked at anew each time' }
      : { status: 'done' },
  run: async (context, { signal }) => {
    const server = await servingMasterUrl(context);
    await using client = await clientFor(context, server);
    const { namespace, name, apiVersion, kind } = handoffConfigMap;
    await client.apply(
      { apiVersion, kind, metadata: { name, namespace }, data: handoffComplete },
      { signal, force: true },
    );
    await client.get(handoffConfigMap, { signal });
    return { note: `written through ${server}` };
  },
};
