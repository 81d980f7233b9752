// The etcd member of a master: its pod is written when the member list says that it may start, and with that list.
// Rules: the pod of a running member is not changed (flags for the first start have no effect later); data is moved
// aside only when its member has left the list and no process writes to it; a member without its data never starts.
import { etcdDataFolder, programs } from '../../contract/machine-paths.ts';
import { waitingFor } from '../../contract/missing.ts';
import { etcdPorts } from '../../contract/ports.ts';
import { readReleaseFacts } from '../../contract/release-facts.ts';
import { podWrittenKey } from '../../contract/timeline.ts';
import { componentOwner, makeWrittenFolders } from '../../control-plane/component-holdings.ts';
import { podFile } from '../../control-plane/control-plane-paths.ts';
import { etcdMemberFlags } from '../../control-plane/etcd-member.ts';
import { etcdPod } from '../../control-plane/etcd-pod.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { archiveData } from '../../etcd/data-folder.ts';
import type { InitialMember } from '../../etcd/member.ts';
import { hostErrors } from '../../host/errors.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { type Agent, addressOf, controlPlaneOf } from '../agent-context.ts';
import { acted, type Duty, type DutyOutcome, settled, waiting } from '../duty.ts';
import { type OwnMember, observeOwnMember } from '../own-member.ts';
import { primeEtcd } from '../prime-etcd.ts';

const path = podFile('etcd');

export const etcdMemberDuty: Duty = {
  name: 'etcd-member',
  roles: ['master'],
  needs: ['credentials'],
  // No event reports that a member was added or promoted, so this duty looks often.
  tickMs: 200,
  run: async (agent) => {
    const seen = await observeOwnMember(agent);
    const { decision } = seen;
    const { files } = agent.host;
    switch (decision.kind) {
      case 'join':
        return join(agent, decision.initialCluster);
      case 'resume':
        return resume(agent, seen);
      case 'archive':
        return archive(agent, decision.because);
      case 'data-lost':
        if ((await files.facts(path)) === undefined)
          return waiting(waitingFor('its member', 'to be replaced', { detail: decision.because }));
        await files.remove(path);
        return acted(`stopped etcd: ${decision.because}`);
      case 'wait':
        return waiting(decision.for);
    }
  },
};

/**
 * The members may change after the list was read and before etcd starts. Then etcd ends, and the next run of this duty
 * uses the new list; in a pod the same failure would cost ten seconds and more. After this many failed starts the cause
 * must be another one: the pod is written, and the kubelet goes on starting it.
 */
const startLimit = 3;
const failedStarts = new WeakMap<Agent, number>();

function mayTryAgain(agent: Agent): boolean {
  const failed = (failedStarts.get(agent) ?? 0) + 1;
  failedStarts.set(agent, failed);
  return failed < startLimit;
}

/** Once etcd has written data here, the next run of the duty finds that data and resumes the member. */
async function join(agent: Agent, initialCluster: readonly InitialMember[]): Promise<DutyOutcome> {
  const { host, node, signal } = agent;
  if ((await host.files.facts(path)) === undefined) {
    await makeWrittenFolders(host, 'etcd');
    const flags = flagsOf(agent, initialCluster);
    const as = componentOwner(host, 'etcd');
    const primed = await primeEtcd(host, { program: programs.etcd, flags, as, signal });
    if (primed.status === 'has-data') return acted('gave etcd its data');
    const why = primed.status === 'ended' ? primed.said : primed.why;
    if (primed.status === 'ended' && mayTryAgain(agent))
      return waiting(waitingFor(`etcd on ${node.name}`, 'to start', { detail: why }));
    agent.log(`etcd-member: starts without its data: ${why}`);
  }
  const isWritten = await writePod(agent, initialCluster);
  return isWritten
    ? acted('started etcd as a new member', podWrittenKey)
    : waiting(waitingFor(`etcd on ${node.name}`, 'to start'));
}

async function resume(agent: Agent, { self, listing, peerUrl, clientUrl }: OwnMember): Promise<DutyOutcome> {
  const { name } = agent.node;
  if ((await agent.host.files.facts(path)) === undefined) {
    // etcd has data, so it does not read the flags about the initial cluster.
    await writePod(agent, [{ name, peerUrl }]);
    return acted('started etcd with the data it has', podWrittenKey);
  }
  if (listing.status === 'unreachable') return waiting(waitingFor('a majority of etcd that answers'));
  if (self === undefined || self.isLearner) return waiting(waitingFor(`etcd on ${name}`, 'to be promoted to a voter'));
  const answer = await (await agent.etcd()).at(clientUrl).status({ signal: agent.signal });
  return answer.status === 'ok'
    ? settled('voter')
    : waiting(waitingFor(`etcd on ${name}`, 'to answer', { detail: answer.said }));
}

async function archive(agent: Agent, because: string): Promise<DutyOutcome> {
  const { host, node } = agent;
  if ((await host.files.facts(path)) !== undefined) {
    await host.files.remove(path);
    return acted(`stopped etcd: ${because}`);
  }
  if (await isRunning(agent))
    return waiting(waitingFor(`etcd on ${node.name}`, 'to stop, before its data is moved aside'));
  const archived = await archiveData(host.files, etcdDataFolder, host.clock.now());
  return acted(`moved data to ${archived}: ${because}`);
}

async function isRunning({ host }: Agent): Promise<boolean> {
  try {
    await host.network.probe('127.0.0.1', etcdPorts.metrics, 1_000);
    return true;
  } catch (error) {
    if (isError(error, hostErrors.NETWORK) && error.details.failure === 'refused') return false;
    throw error;
  }
}

async function writePod(agent: Agent, initialCluster: readonly InitialMember[]): Promise<boolean> {
  const { files } = agent.host;
  const { etcdImage } = await readReleaseFacts(agent.host);
  await makeWrittenFolders(agent.host, 'etcd');
  const pod = etcdPod({ image: etcdImage, flags: flagsOf(agent, initialCluster) });
  return writeIfChanged(files, { path, text: toYaml(pod), mode: 0o600 });
}

function flagsOf(agent: Agent, initialCluster: readonly InitialMember[]): readonly string[] {
  const { clusterId, masters } = controlPlaneOf(agent);
  return etcdMemberFlags({
    name: agent.node.name,
    address: addressOf(agent),
    clusterToken: clusterId,
    initialCluster,
    initialState: 'existing',
    masters,
  });
}
