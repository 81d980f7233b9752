// Members of etcd for tests of who leads: each answers what it knows, or nothing until the caller's time is over. The
// member of this machine also answers on loopback.
import type { Answer, EtcdClient, EtcdClients } from '../src/etcd/client.ts';
import type { ClusterId, Member, MemberId } from '../src/etcd/member.ts';
import type { Clock } from '../src/host/clock.ts';

export interface LedMember {
  readonly name: string;
  readonly applied?: number;
  readonly isLearner?: boolean;
  /** Takes requests and answers none. */
  readonly isSilent?: boolean;
}

export interface LedEtcdOptions {
  readonly clock: Clock;
  /** The first one is the member of this machine. */
  readonly members: readonly LedMember[];
  readonly leader: string;
  /** How long a member that was given the leadership does not know of it. Default 0. */
  readonly noticesAfterMs?: number;
  readonly onCall?: (call: string) => void;
}

export interface LedEtcd {
  readonly clients: EtcdClients;
  readonly ownUrl: string;
  readonly leader: () => string;
}

export function ledEtcd({ clock, members, leader, noticesAfterMs = 0, onCall = () => {} }: LedEtcdOptions): LedEtcd {
  const listed = members.map(({ name, isLearner = false }): Member => {
    const url = `https://${name}:2379`;
    return { id: idOf(name), name, peerUrls: [], clientUrls: [url], isLearner };
  });
  let led = { by: leader, knownFromMs: 0, before: leader };
  const client = (url: string): EtcdClient => {
    const own = members.find(({ name }) => url === `https://${name}:2379`) ?? members[0];
    if (own === undefined) throw new Error(`there is no member at ${url}`);
    const answer = async <T>(call: string, timeoutMs: number | undefined, value: () => T): Promise<Answer<T>> => {
      onCall(`${own.name}: ${call}`);
      if (own.isSilent !== true) return { status: 'ok', value: value() };
      await clock.sleep(timeoutMs ?? 1_000);
      return { status: 'failed', call, url, outcome: 'no-answer', said: 'deadline exceeded' };
    };
    const status = (): never => {
      const leads = clock.monotonicMs() < led.knownFromMs ? led.before : led.by;
      return { id: idOf(own.name), leader: idOf(leads), raftAppliedIndex: own.applied ?? 0 } as never;
    };
    const calls: Pick<EtcdClient, 'url' | 'status' | 'memberList' | 'moveLeader'> = {
      url,
      status: (options) => answer('status', options?.timeoutMs, status),
      memberList: ({ timeoutMs }) =>
        answer('list', timeoutMs, () => ({ clusterId: 'cafe' as ClusterId, members: listed })),
      moveLeader: (to, options) =>
        answer(`move to ${nameOf(to)}`, options?.timeoutMs, () => {
          led = { by: nameOf(to), knownFromMs: clock.monotonicMs() + noticesAfterMs, before: led.by };
        }),
    };
    return calls as EtcdClient;
  };
  return {
    clients: { at: client, [Symbol.dispose]: () => {} },
    ownUrl: 'https://127.0.0.1:2379',
    leader: () => led.by,
  };
}

const idOf = (name: string): MemberId => `id of ${name}` as MemberId;
const nameOf = (id: MemberId): string => id.replace('id of ', '');
