// What goes wrong during a handoff, done to the real etcd: killed learners, wiped disks, lost answers, dead masters.
// The rules must be stricter than etcd, which would accept some of what is refused here.
import { afterEach, expect, test } from 'vitest';
import { type Answer, valueOfAnswer } from '../../src/etcd/client.ts';
import type { Member, MemberId } from '../../src/etcd/member.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { membersToPublish } from '../../src/membership/etcd-endpoints.ts';
import type { MembershipEvent } from '../../src/membership/membership-events.ts';
import { keepMembership, type MembershipLoop } from '../../src/membership/membership-loop.ts';
import { type EtcdLab, etcdLab, type LabMachine, until } from './etcd-lab.ts';
import { losingAnswers } from './etcd-proxy.ts';
import { voterHistory } from './voter-history.ts';

const clean: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

interface Scene {
  readonly lab: EtcdLab;
  readonly events: MembershipEvent[];
  readonly keep: (stage: MembershipLoop['until'], change?: Partial<MembershipLoop>) => Promise<void>;
  readonly agents: (machines: readonly LabMachine[]) => () => Promise<void>;
}

/** A bootstrap member that runs, and what is needed to look after the members. */
async function scene(masterCount: number): Promise<Scene> {
  const lab = await etcdLab(masterCount);
  clean.push(async () => lab[Symbol.asyncDispose]());
  await lab.startBootstrap();
  const events: MembershipEvent[] = [];
  let published: readonly MemberId[] = [];
  return {
    lab,
    events,
    keep: (stage, change) =>
      keepMembership({
        clients: lab.clients,
        clock: realHost().clock,
        facts: () => lab.facts({ published }),
        mayAct: () => true,
        emit: (event) => events.push(event),
        onLook: (seen) => {
          published = membersToPublish(seen);
        },
        signal: AbortSignal.timeout(40_000),
        ...(stage === undefined ? {} : { until: stage }),
        ...change,
      }),
    agents: (machines) => {
      const over = new AbortController();
      const running = lab.runAgents(machines, over.signal);
      const stop = (): Promise<void> => {
        over.abort();
        return running;
      };
      clean.push(stop);
      return stop;
    },
  };
}

/** Looks after the members for a while, as a person would who then looks at what happened. */
async function keepFor({ keep }: Scene, ms: number): Promise<void> {
  const signal = AbortSignal.timeout(ms);
  await keep(undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

const members = async (lab: EtcdLab): Promise<readonly Member[]> =>
  valueOfAnswer(await lab.clients.at(lab.bootstrap.clientUrl).memberList({ isLinearizable: true })).members;

test('a learner killed after it caught up is not promoted, and is when it comes back', async () => {
  const set = await scene(1);
  const { lab } = set;
  const [master] = lab.masters as [LabMachine];
  const bootstrap = lab.clients.at(lab.bootstrap.clientUrl);
  await lab.agentStep(master);
  valueOfAnswer(await bootstrap.addLearner(master.peerUrl));
  const learner = lab.clients.at(master.clientUrl);
  await until('the learner has caught up', async () => {
    // An agent looks again until its member runs: one look may come when nobody answers in time.
    await lab.agentStep(master);
    const [own, leads] = [await learner.status(), await bootstrap.status()];
    return own.status === 'ok' && leads.status === 'ok' && own.value.raftAppliedIndex === leads.value.raftIndex;
  });
  await lab.kill(master);
  await keepFor(set, 1500);
  expect(lab.etcdctlMembers(lab.bootstrap)).toEqual(['bootstrap:voter', 'master-0:learner']);
  expect(set.events.some((event) => event.kind === 'moved')).toBe(false);
  expect(JSON.stringify(set.events)).toContain('etcd on master-0 does not answer');
  valueOfAnswer(await bootstrap.put('still', 'writable'));
  await lab.agentStep(master);
  expect(master.decision).toEqual({ kind: 'resume' });
  const backAtMs = performance.now();
  await set.keep('grown');
  expect(performance.now() - backAtMs).toBeLessThan(5000);
  expect(lab.etcdctlMembers(master)).toEqual(['bootstrap:voter', 'master-0:voter']);
});

test.each([
  ['addLearner', 'grown', ['bootstrap:voter', 'master-0:voter'], [1, 2]],
  ['promote', 'grown', ['bootstrap:voter', 'master-0:voter'], [1, 2]],
  ['remove', 'steady', ['master-0:voter'], [1, 2, 1]],
] as const)('when every answer to %s is lost, the list says what happened', async (call, reached, end, history) => {
  const set = await scene(1);
  set.agents(set.lab.masters);
  set.lab.handoff.isCommitted = reached === 'steady';
  const losing = losingAnswers(set.lab.clients, call);
  await set.keep(reached, { clients: losing.clients });
  expect(set.lab.etcdctlMembers(set.lab.masters[0]!)).toEqual(end);
  expect(voterHistory(set.events)).toEqual(history);
  expect(new Set(losing.sent).size).toBe(1);
  const outcomes = set.events.flatMap((event) => (event.kind === 'refused' ? event.outcome : []));
  expect(outcomes).toContain('no-answer');
});

test('the bootstrap member stays while a master is down, though etcd would let it go, and goes while it is down itself', async () => {
  const set = await scene(3);
  const { lab } = set;
  const stopAgents = set.agents(lab.masters);
  await set.keep('grown');
  await stopAgents();
  lab.handoff.isCommitted = true;
  await lab.kill(lab.masters[2]!);
  await keepFor(set, 1000);
  expect((await members(lab)).map(({ name }) => name)).toContain('bootstrap');
  expect(set.events.at(-1)).toMatchObject({
    kind: 'waiting',
    stage: 'growing',
    missing: [expect.objectContaining({ who: 'etcd on master-2' })],
  });
  await lab.agentStep(lab.masters[2]!);
  await lab.kill(lab.bootstrap);
  await set.keep('steady');
  expect(voterHistory(set.events)).toEqual([1, 2, 3, 4, 3]);
  expect(lab.etcdctlMembers(lab.masters[1]!)).toEqual(['master-0:voter', 'master-1:voter', 'master-2:voter']);

  // The same machines go on: a wiped voter refuses to start empty, is removed, and joins as a new member.
  const wiped = lab.masters[1]!;
  const idBefore = idAt(await lab.clients.at(lab.masters[0]!.clientUrl).memberList({ isLinearizable: true }), wiped);
  await lab.kill(wiped);
  lab.wipe(wiped);
  await until('the agent finds its data lost', async () => {
    await lab.agentStep(wiped);
    return wiped.decision?.kind === 'data-lost';
  });
  expect(wiped.decision).toMatchObject({ member: idBefore });
  set.agents([wiped]);
  set.events.length = 0;
  await set.keep('steady');
  expect(voterHistory(set.events)).toEqual([3, 2, 3]);
  const after = await lab.clients.at(lab.masters[0]!.clientUrl).memberList({ isLinearizable: true });
  expect(idAt(after, wiped)).not.toBe(idBefore);
  expect(lab.etcdctlMembers(wiped)).toEqual(['master-0:voter', 'master-1:voter', 'master-2:voter']);
});

function idAt(answer: Answer<{ readonly members: readonly Member[] }>, machine: LabMachine): MemberId | undefined {
  return valueOfAnswer(answer).members.find(({ peerUrls }) => peerUrls.includes(machine.peerUrl))?.id;
}
