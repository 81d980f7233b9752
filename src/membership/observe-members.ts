// One look at the cluster: the member list by a linearizable read, then a request to every member at its own URL, all
// at once. A voter is proven alive by a read that a majority confirmed, a learner by a read from its own copy. Nothing
// is decided here, and no request goes through etcd's log: alarms come with the status.
import { type Missing, waitingFor } from '../contract/missing.ts';
import type { Answer, EtcdClient, EtcdClients, Failure } from '../etcd/client.ts';
import { type ClusterId, hasStarted, type Member, type MemberList, type MemberStatus } from '../etcd/member.ts';
import { outcomes } from '../etcd/outcomes.ts';
import type { Clock } from '../host/clock.ts';
import { type MemberProbe, type MembershipFacts, memberMachines, type ObservedCluster } from './observed-cluster.ts';
import type { Sightings } from './sightings.ts';

export interface ObserveOptions {
  readonly clients: EtcdClients;
  readonly clock: Clock;
  readonly facts: MembershipFacts;
  readonly sightings: Sightings;
  /** The expected cluster; a list from another cluster is not used. */
  readonly clusterId?: ClusterId | undefined;
  readonly signal?: AbortSignal | undefined;
}

const probeTries = 3;
const probeMs = 1000;
const betweenTriesMs = 50;
/** Read only to prove that reading works; it is never written. */
const healthKey = 'health';

export async function observe(options: ObserveOptions): Promise<ObservedCluster> {
  const { clock, facts, sightings } = options;
  const list = await readMembers(options);
  if ('missing' in list) {
    const slowForMs = sightings.slowForMs(undefined, clock.monotonicMs());
    return { ...facts, membership: { status: 'unreadable', missing: list.missing }, justRemoved: [], slowForMs };
  }
  const probed = await Promise.all(
    list.members.map(async (member) => ({ ...member, probe: await probe(member, list.clusterId, options) })),
  );
  const nowMs = clock.monotonicMs();
  const members = sightings.date(probed, nowMs);
  return {
    ...facts,
    membership: { status: 'read', members },
    justRemoved: sightings.justRemoved(nowMs),
    slowForMs: sightings.slowForMs(members, nowMs),
  };
}

/** Whether this member answers now: a voter with a read that a majority confirms, a learner from its own copy. */
export function proveAlive(
  client: EtcdClient,
  member: { readonly isLearner: boolean },
  signal?: AbortSignal,
): Promise<Answer<unknown>> {
  return client.get(healthKey, { isSerializable: member.isLearner, timeoutMs: probeMs, signal });
}

/** The first list of the expected cluster; later answers are not waited for. */
async function readMembers(options: ObserveOptions): Promise<MemberList | { readonly missing: Missing }> {
  const { clients, facts, signal } = options;
  const enough = new AbortController();
  const either = signal === undefined ? enough.signal : AbortSignal.any([enough.signal, signal]);
  const refusals = new Map<string, string>();
  const ask = async ({ name, clientUrl }: { name: string; clientUrl: string }): Promise<MemberList> => {
    const answer = await clients.at(clientUrl).memberList({ isLinearizable: true, timeoutMs: probeMs, signal: either });
    if (answer.status === 'failed') refusals.set(name, outcomes[answer.outcome].means);
    else if (options.clusterId !== undefined && answer.value.clusterId !== options.clusterId) {
      refusals.set(name, `it belongs to another cluster, ${answer.value.clusterId}`);
    } else return answer.value;
    throw new Error(`${name} gave no list`);
  };
  try {
    return await Promise.any(memberMachines(facts).map(ask));
  } catch {
    signal?.throwIfAborted();
    const said = [...refusals].map(([name, why]) => `${name}: ${why}`).join('; ');
    const key = 'a majority of etcd that answers';
    return { missing: waitingFor(key, `(${said})`, { key, machines: [...refusals.keys()] }) };
  } finally {
    enough.abort(new Error('another member has given the list'));
  }
}

async function probe(member: Member, cluster: ClusterId, options: ObserveOptions): Promise<MemberProbe> {
  const [url] = member.clientUrls;
  if (url === undefined || !hasStarted(member)) return { status: 'unstarted' };
  const client = options.clients.at(url);
  let last: MemberProbe = { status: 'silent', why: 'was not asked' };
  for (let tries = 0; tries < probeTries; tries += 1) {
    if (tries > 0) await options.clock.sleep(betweenTriesMs, options.signal);
    const startMs = options.clock.monotonicMs();
    const [alive, status] = await Promise.all([
      proveAlive(client, member, options.signal),
      client.status({ timeoutMs: probeMs, signal: options.signal }),
    ]);
    last = probeFrom(member, cluster, { alive, status, tookMs: options.clock.monotonicMs() - startMs });
    if (last.status === 'answers') return last;
  }
  return last;
}

function probeFrom(
  member: Member,
  cluster: ClusterId,
  { alive, status, tookMs }: { alive: Answer<unknown>; status: Answer<MemberStatus>; tookMs: number },
): MemberProbe {
  const failed: Failure | undefined = [status, alive].find((answer) => answer.status === 'failed');
  if (failed !== undefined) return { status: 'silent', why: `does not answer: ${outcomes[failed.outcome].means}` };
  if (status.status === 'failed') return { status: 'silent', why: 'does not answer' };
  const { value } = status;
  if (value.clusterId !== cluster) return { status: 'silent', why: `belongs to another cluster, ${value.clusterId}` };
  if (value.id !== member.id) return { status: 'silent', why: `answers as another member, ${value.id}` };
  return { status: 'answers', state: value, tookMs };
}
