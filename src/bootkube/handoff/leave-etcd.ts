// The last stage of the handoff: the bootstrap member leaves etcd, and only then the etcd of this machine stops.
import { working } from '../../contract/stage-progress.ts';
import { podFile } from '../../control-plane/control-plane-paths.ts';
import type { Stage, StageTools } from '../../workflow/stage.ts';
import { clientFor } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { keepMembers } from './masters.ts';

export const leaveEtcd: Stage<BootkubeContext> = {
  name: 'leave-etcd',
  why: 'Removes the bootstrap member from etcd: one that merely vanished would count against every later majority.',
  observe: async ({ host }) =>
    (await host.files.facts(podFile('etcd'))) === undefined
      ? { status: 'done' }
      : { status: 'needed', because: 'this machine still votes, or has not made sure that it does not' },
  run: async (context, tools) => {
    await removeMember(context, tools);
    tools.report(working('Tearing down etcd-bootstrap...'));
    await context.host.files.remove(podFile('etcd'));
    return { note: 'only masters vote' };
  },
};

async function removeMember(context: BootkubeContext, tools: StageTools): Promise<void> {
  await using client = await clientFor(context, context.names.apiInternalUrl);
  await keepMembers(context, client, { until: 'steady', tools });
}
