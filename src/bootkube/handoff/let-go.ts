// This machine stops being the cluster: first its API (the load balancer sees it fail and uses the masters), then its
// voice in etcd, last its etcd. An API server outlives its etcd badly, so the order is never the other way round.
import { join } from 'node:path';
import { pkiFolder, podFile } from '../../control-plane/control-plane-paths.ts';
import type { Stage, StageTools } from '../../workflow/stage.ts';
import { waitUntil } from '../../workflow/wait.ts';
import type { BootkubeContext } from '../context.ts';
import { handoffMark } from '../journal-folder.ts';
import { answers, localApiUrl } from '../local-api.ts';
import { clientFor } from '../remote-api.ts';
import { keepMembers } from './masters.ts';

const minuteMs = 60_000;

export const stopServing: Stage<BootkubeContext> = {
  name: 'stop-serving',
  why: 'Two masters serve; from here on nobody may be answered by a machine that is about to go.',
  inputs: [],
  outputs: ['no kube-apiserver, controller-manager or scheduler on this machine'],
  observe: async ({ host }) => {
    const isMarked = (await host.files.facts(handoffMark)) !== undefined;
    const isThere = (await host.files.facts(podFile('kube-apiserver'))) !== undefined;
    return isMarked && !isThere ? { status: 'done' } : { status: 'needed', because: 'this machine still serves' };
  },
  run: async ({ host }, tools) => {
    await host.files.write(handoffMark, `${host.clock.now().toISOString()}\n`);
    for (const component of ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver'] as const) {
      tools.report(`Tearing down ${component}-bootstrap...`);
      await host.files.remove(podFile(component));
    }
    const ca = await host.files.readText(join(pkiFolder, 'apiserver-ca.crt'));
    await waitUntil({
      clock: host.clock,
      what: 'the end of the local API',
      deadlineMs: 2 * minuteMs,
      everyMs: 200,
      signal: tools.signal,
      probe: async () => {
        const seen = await answers(host, { name: 'the local API', request: { url: `${localApiUrl}/readyz`, ca } });
        const isGone = seen.status === 'waiting' && seen.missing.some((each) => each.includes('refused'));
        return isGone
          ? { status: 'ready', value: true }
          : { status: 'waiting', missing: ['the local API still answers'] };
      },
    });
    return { inputs: {}, outputs: {}, note: 'the masters serve alone' };
  },
  verify: [],
};

export const leaveEtcd: Stage<BootkubeContext> = {
  name: 'leave-etcd',
  why: 'A member that vanishes without leaving would count against every later majority.',
  inputs: [],
  outputs: ['the bootstrap member is not in the list of two masters'],
  observe: async ({ host }) =>
    (await host.files.facts(podFile('etcd'))) === undefined
      ? { status: 'done' }
      : { status: 'needed', because: 'this machine still votes, or has not made sure that it does not' },
  run: async (context, tools) => {
    await removeMember(context, tools);
    tools.report('Tearing down etcd-bootstrap...');
    await context.host.files.remove(podFile('etcd'));
    return { inputs: {}, outputs: {}, note: 'only masters vote' };
  },
  verify: [],
};

async function removeMember(context: BootkubeContext, tools: StageTools): Promise<void> {
  await using client = await clientFor(context, context.names.apiInternalUrl);
  await keepMembers(context, client, { until: 'steady', tools });
}
