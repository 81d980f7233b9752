// Before a machine goes down, its etcd member gives the leadership to another one. A leader that vanishes is missed
// only after an election timeout, and every write of that time fails.
import type { EtcdClients } from '../etcd/client.ts';
import { hasStarted, type Member } from '../etcd/member.ts';

export interface PassLeadership {
  readonly clients: EtcdClients;
  /** The client URL of the member that goes down. */
  readonly url: string;
  readonly signal: AbortSignal;
}

/** All of it together: a machine that has to go down does not wait long for this. */
const limitMs = 3_000;

/** The member that leads now; undefined when nothing had to be passed, or when no other member can take it. */
export async function passLeadership({ clients, url, signal }: PassLeadership): Promise<string | undefined> {
  const call = { timeoutMs: limitMs, signal };
  const own = await clients.at(url).status(call);
  if (own.status === 'failed' || own.value.leader !== own.value.id) return undefined;
  const list = await clients.at(url).memberList({ ...call, isLinearizable: false });
  if (list.status === 'failed') return undefined;
  const others = list.value.members.filter(
    (member) => member.id !== own.value.id && !member.isLearner && hasStarted(member),
  );
  const next = await nearestToLeader(clients, others, call);
  if (next === undefined) return undefined;
  const moved = await clients.at(url).moveLeader(next.id, call);
  return moved.status === 'ok' ? next.name : undefined;
}

/** The member that answers and has applied the most: it needs the least time to lead. */
async function nearestToLeader(
  clients: EtcdClients,
  members: readonly Member[],
  call: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Member | undefined> {
  const looked = await Promise.all(
    members.map(async (member) => {
      const answer = await clients.at(member.clientUrls[0] ?? '').status(call);
      return answer.status === 'ok' ? [{ member, applied: answer.value.raftAppliedIndex }] : [];
    }),
  );
  return looked.flat().toSorted((one, other) => other.applied - one.applied)[0]?.member;
}
