// Before a machine goes down, its etcd member gives the leadership to another one. A leader that vanishes is missed
// only after an election timeout, and every write of that time fails. The member may be stopped as soon as this
// returns, so it returns only when the other member itself says that it leads, or when the time is over.
import type { EtcdClient, EtcdClients } from '../etcd/client.ts';
import { hasStarted, type Member, type MemberId } from '../etcd/member.ts';
import type { Clock } from '../host/clock.ts';

export interface PassLeadership {
  readonly clients: EtcdClients;
  readonly clock: Clock;
  /** The client URL of the member that goes down. */
  readonly url: string;
  readonly signal: AbortSignal;
}

export type PassedLeadership =
  | { readonly status: 'passed'; readonly to: string }
  /** There was nothing to pass. */
  | { readonly status: 'not-leader' }
  | { readonly status: 'not-passed'; readonly reason: string };

/** All of it together: a machine that has to go down does not wait long for this. */
const limitMs = 3_000;
/** A member that is gone must not use up the time in which another one could take the leadership. */
const lookMs = 1_000;
const askAgainMs = 50;

interface Calls {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly endMs: number;
}

/** How long a call may take that begins now. */
function leftMs({ clock, endMs }: Calls): number {
  return Math.max(1, endMs - clock.monotonicMs());
}

export async function passLeadership({ clients, clock, url, signal }: PassLeadership): Promise<PassedLeadership> {
  const calls: Calls = { clock, signal, endMs: clock.monotonicMs() + limitMs };
  const leader = clients.at(url);
  const own = await leader.status({ timeoutMs: lookMs, signal });
  if (own.status === 'failed') return notPassed(`the member of this machine does not answer: ${own.said}`);
  if (own.value.leader !== own.value.id) return { status: 'not-leader' };
  const list = await leader.memberList({ timeoutMs: lookMs, signal, isLinearizable: false });
  if (list.status === 'failed') return notPassed(`the member of this machine does not list the others: ${list.said}`);
  const others = list.value.members.filter(
    (member) => member.id !== own.value.id && !member.isLearner && hasStarted(member),
  );
  const next = await nearestToLeader(clients, others, calls);
  if (next === undefined) return notPassed('no other voting member answers');
  const moved = await leader.moveLeader(next.member.id, { timeoutMs: leftMs(calls), signal });
  if (moved.status === 'failed') return notPassed(`${next.member.name} was not given it: ${moved.said}`);
  if (await comesToLead(next, calls)) return { status: 'passed', to: next.member.name };
  return notPassed(`${next.member.name} was given it and does not say that it leads`);
}

function notPassed(reason: string): PassedLeadership {
  return { status: 'not-passed', reason };
}

interface Candidate {
  readonly member: Member;
  readonly client: EtcdClient;
}

/** The member that answers and has applied the most: it needs the least time to lead. */
async function nearestToLeader(
  clients: EtcdClients,
  members: readonly Member[],
  calls: Calls,
): Promise<Candidate | undefined> {
  const options = { timeoutMs: Math.min(lookMs, leftMs(calls)), signal: calls.signal };
  const looked = await Promise.all(
    members.map(async (member) => {
      const client = clients.at(member.clientUrls[0] ?? '');
      const answer = await client.status(options);
      return answer.status === 'ok' ? [{ member, client, applied: answer.value.raftAppliedIndex }] : [];
    }),
  );
  return looked.flat().toSorted((one, other) => other.applied - one.applied)[0];
}

async function comesToLead({ member, client }: Candidate, calls: Calls): Promise<boolean> {
  const { clock, signal, endMs } = calls;
  const leaderNow = async (): Promise<MemberId | undefined> => {
    const answer = await client.status({ timeoutMs: leftMs(calls), signal });
    return answer.status === 'ok' ? answer.value.leader : undefined;
  };
  while ((await leaderNow()) !== member.id) {
    if (clock.monotonicMs() + askAgainMs >= endMs) return false;
    await clock.sleep(askAgainMs, signal);
  }
  return true;
}
