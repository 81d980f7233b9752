// After the numbered stages: the masters join etcd, one safe change at a time, until all masters and the bootstrap
// member are voting members.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { localApiUrl } from '../../contract/ports.ts';
import { type StageProgress, working } from '../../contract/stage-progress.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import type { EtcdTls } from '../../etcd/client.ts';
import { Secret } from '../../host/secret.ts';
import { masterCount } from '../../install-config/cluster-facts.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { lookAfterMembers } from '../../membership/look-after-members.ts';
import type { MembershipEvent } from '../../membership/membership-events.ts';
import type { MembershipStage } from '../../membership/move.ts';
import type { Stage, StageTools } from '../../workflow/stage.ts';
import { clientFor } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { readApiCa } from '../readiness-probes.ts';
import { readScaling } from '../stages/07-etcd.ts';

export const masters: Stage<BootkubeContext> = {
  name: 'masters',
  why: 'Waits until every master votes in etcd: the data of the cluster must be on the masters before this machine may go.',
  observe: async ({ host }) =>
    (await host.files.facts(handoffMark)) === undefined
      ? { status: 'needed', because: 'who votes is looked at anew each time' }
      : { status: 'done' },
  run: async (context, tools) => {
    await using client = await clientFor(context, localApiUrl);
    await keepMembers(context, client, { until: 'grown', tools });
    return { note: `${masterCount(context.installConfig)} masters vote` };
  },
};

export async function keepMembers(
  context: BootkubeContext,
  client: KubernetesClient,
  { until, tools }: { readonly until: MembershipStage; readonly tools: StageTools },
): Promise<void> {
  const { host, inventory, machine } = context;
  await lookAfterMembers({
    host,
    client,
    tls: () => membershipTls(context),
    apiCaPem: await readApiCa(host),
    inventory: async () => inventory,
    maxLearners: (await readScaling(context)).maxLearners,
    identity: `${machine.name}-${host.environment.pid}`,
    signal: tools.signal,
    emit: (event) => tools.report(membershipProgress(event)),
    until,
  });
}

async function membershipTls({ host }: BootkubeContext): Promise<EtcdTls> {
  const read = (name: string): Promise<string> => host.files.readText(`${pkiFolder}/${name}`);
  return {
    caPem: await read('etcd-ca.crt'),
    certificatePem: await read('etcd-membership-client.crt'),
    keyPem: new Secret(await read('etcd-membership-client.key')),
  };
}

export function membershipProgress(event: MembershipEvent): StageProgress {
  switch (event.kind) {
    case 'members': {
      const learners = event.learners.length === 0 ? '' : `; learners ${event.learners.join(', ')}`;
      return working(`etcd voters ${event.voters.join(', ')}${learners}`);
    }
    case 'waiting':
      if (event.missing.length === 0) return working(`etcd is ${event.stage}`);
      return { waiter: 'etcd', missing: event.missing };
    case 'standing-by':
      return working('etcd: somebody else looks after the members');
    case 'bootstrap-gone':
      return working(`the bootstrap member is gone, say ${event.confirmedBy.join(' and ')}`);
    case 'moved':
      return working(`etcd: ${event.move.kind} ${event.move.node}`);
    case 'withheld': {
      const held = `etcd: ${event.move.kind} ${event.move.node} is held back`;
      return working(`${held}: ${event.why}`, held);
    }
    case 'refused': {
      const refused = `etcd: ${event.move.kind} ${event.move.node} was refused`;
      return working(`${refused}: ${event.said}`, `${refused}: ${event.outcome}`);
    }
  }
}
