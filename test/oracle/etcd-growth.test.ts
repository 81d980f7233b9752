// The whole life of a handoff with the real etcd: one voter, three learners, four voters, three. etcdctl is the judge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MemberId } from '../../src/etcd/member.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { membersToPublish } from '../../src/membership/etcd-endpoints.ts';
import type { MembershipEvent } from '../../src/membership/membership-events.ts';
import { keepMembership } from '../../src/membership/membership-loop.ts';
import { passLeadership } from '../../src/membership/pass-leadership.ts';
import { type EtcdLab, etcdLab, type LabMachine } from './etcd-lab.ts';
import { voterHistory } from './voter-history.ts';

describe('three masters join and the bootstrap member leaves', () => {
  let lab: EtcdLab;
  const agents = new AbortController();
  const events: MembershipEvent[] = [];
  const published = { members: [] as readonly MemberId[] };
  let running: Promise<void>;

  const keep = (until: 'grown' | 'steady'): Promise<void> =>
    keepMembership({
      clients: lab.clients,
      clock: realHost().clock,
      facts: () => lab.facts({ published: published.members }),
      mayAct: () => true,
      emit: (event) => events.push(event),
      onLook: (seen) => {
        published.members = membersToPublish(seen);
      },
      signal: AbortSignal.timeout(60_000),
      until,
    });

  beforeAll(async () => {
    lab = await etcdLab(3);
    await lab.startBootstrap();
    running = lab.runAgents(lab.masters, agents.signal);
  });
  afterAll(async () => {
    agents.abort();
    await running;
    await lab[Symbol.asyncDispose]();
  });

  test('all three become voters, and nothing is removed before the handoff is on record', async () => {
    await keep('grown');
    expect(voterHistory(events)).toEqual([1, 2, 3, 4]);
    const everyone = ['bootstrap:voter', 'master-0:voter', 'master-1:voter', 'master-2:voter'];
    expect(lab.masters.map((machine) => lab.etcdctlMembers(machine))).toEqual([everyone, everyone, everyone]);
  });
  test('then the bootstrap member hands over and leaves', async () => {
    lab.handoff.isCommitted = true;
    await keep('steady');
    expect(voterHistory(events)).toEqual([1, 2, 3, 4, 3]);
    expect(lab.etcdctlMembers(lab.masters[0]!)).toEqual(['master-0:voter', 'master-1:voter', 'master-2:voter']);
  });
  test('a member that leads gives the leadership to another before its machine goes down', async () => {
    const leaders = () => lab.masters.filter((machine) => isLeader(machine)).map(({ name }) => name);
    const isLeader = (machine: LabMachine): boolean => {
      const [{ Status: status }] = JSON.parse(lab.etcdctl(machine, 'endpoint', 'status', '-w', 'json'));
      return status.header.member_id === status.leader;
    };
    const before = lab.masters.find((machine) => isLeader(machine))!;
    const pass = () => {
      const signal = AbortSignal.timeout(10_000);
      return passLeadership({ clients: lab.clients, clock: realHost().clock, url: before.clientUrl, signal });
    };
    const passed = await pass();
    const next = passed.status === 'passed' ? passed.to : '';
    expect(passed).toEqual({ status: 'passed', to: expect.not.stringMatching(before.name) });
    expect(leaders()).toEqual([next]);
    // It does not lead any more, so there is nothing to pass.
    expect(await pass()).toEqual({ status: 'not-leader' });
    expect(leaders()).toEqual([next]);
  });
});
