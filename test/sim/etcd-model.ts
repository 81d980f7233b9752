// A model of etcd 3.7 as far as membership goes: who votes, who leads, and the checks the server itself makes before it
// accepts a change (strict-reconfig-check). It is as permissive as etcd: it promotes a dead learner that once caught up.
// Machines can be down, cut off or wiped; nothing here knows our rules.
import { createHash } from 'node:crypto';
import type { ClusterId, Member, MemberId } from '../../src/etcd/member.ts';
import { quorumOf } from '../../src/etcd/member.ts';
import type { CallOutcome } from '../../src/etcd/outcomes.ts';

export interface ModelMachine {
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  isRunning: boolean;
  /** Nobody reaches it. */
  isCutOff: boolean;
  /** The one who looks after the members does not reach it; its peers do. */
  isHidden: boolean;
  /** The member whose data is on the disk. */
  data: MemberId | undefined;
  startedAtMs: number;
  catchUpMs: number;
}

export const modelCluster = 'c1' as ClusterId;
const healthMs = 5000;

export class EtcdModel {
  readonly machines: readonly ModelMachine[];
  members: Member[];
  readonly maxLearners: number;
  readonly removed = new Set<MemberId>();
  /** Learners that caught up once; the leader remembers that, whatever became of them. */
  readonly caughtUp = new Set<MemberId>();
  readonly voterCounts: number[] = [1];
  #leader: MemberId | undefined;
  #electionAtMs: number | undefined;
  #shape = '';
  readonly #connectedSince = new Map<string, number>();

  constructor(names: readonly string[], maxLearners: number) {
    this.machines = names.map((name) => ({
      name,
      peerUrl: `https://${name}:2380`,
      clientUrl: `https://${name}:2379`,
      isRunning: false,
      isCutOff: false,
      isHidden: false,
      data: undefined,
      startedAtMs: 0,
      catchUpMs: 0,
    }));
    this.maxLearners = maxLearners;
    const [first] = this.machines as [ModelMachine];
    const id = idFrom(first.peerUrl, 0);
    first.data = id;
    first.isRunning = true;
    this.members = [
      { id, name: first.name, peerUrls: [first.peerUrl], clientUrls: [first.clientUrl], isLearner: false },
    ];
    this.#leader = id;
  }

  machineOf(member: Member): ModelMachine {
    return this.machines.find(({ peerUrl }) => member.peerUrls.includes(peerUrl))!;
  }

  memberOn(machine: ModelMachine): Member | undefined {
    return this.members.find(({ id, peerUrls }) => peerUrls.includes(machine.peerUrl) && id === machine.data);
  }

  get voters(): readonly Member[] {
    return this.members.filter((member) => !member.isLearner);
  }

  /** Its process runs, with its own data, and others can reach it. */
  isAlive(member: Member): boolean {
    const machine = this.machineOf(member);
    return machine.isRunning && !machine.isCutOff && machine.data === member.id;
  }

  /** Brings streams, elections, catching up and the exit of removed members up to date. */
  tick(nowMs: number): void {
    for (const machine of this.machines) {
      if (machine.isRunning && machine.data !== undefined && this.removed.has(machine.data)) machine.isRunning = false;
    }
    this.#stream(nowMs);
    this.#elect(nowMs);
    if (this.#leader === undefined) return;
    for (const member of this.members) {
      if (!this.isAlive(member)) continue;
      const machine = this.machineOf(member);
      if (nowMs - machine.startedAtMs >= machine.catchUpMs) this.caughtUp.add(member.id);
      if (member.name === '') this.#replace(member, { ...member, name: machine.name, clientUrls: [machine.clientUrl] });
    }
  }

  get leader(): Member | undefined {
    return this.members.find(({ id }) => id === this.#leader);
  }

  #stream(nowMs: number): void {
    const shape = this.members.map((member) => `${member.id}${this.isAlive(member)}`).join();
    if (shape === this.#shape) return;
    this.#shape = shape;
    for (const a of this.members) {
      for (const b of this.members) {
        const key = `${a.id} ${b.id}`;
        if (!this.isAlive(a) || !this.isAlive(b)) this.#connectedSince.delete(key);
        else if (!this.#connectedSince.has(key)) this.#connectedSince.set(key, nowMs);
      }
    }
  }

  #elect(nowMs: number): void {
    const alive = this.voters.filter((member) => this.isAlive(member));
    const hasQuorum = alive.length >= quorumOf(this.voters.length);
    if (hasQuorum && alive.some(({ id }) => id === this.#leader)) return;
    this.#leader = undefined;
    if (!hasQuorum) this.#electionAtMs = undefined;
    else if (this.#electionAtMs === undefined) this.#electionAtMs = nowMs + 1500;
    else if (nowMs >= this.#electionAtMs) {
      this.#leader = alive[0]?.id;
      this.#electionAtMs = undefined;
    }
  }

  #replace(old: Member, changed: Member): void {
    this.members = this.members.map((member) => (member === old ? changed : member));
  }

  #connected(from: Member, nowMs: number): number {
    const isLong = ({ id }: Member): boolean =>
      id === from.id || nowMs - (this.#connectedSince.get(`${from.id} ${id}`) ?? nowMs) > healthMs;
    return this.voters.filter(isLong).length;
  }

  /** What the serving member refuses before anything is proposed; undefined when it proposes. */
  addRefusal(serving: Member, nowMs: number): CallOutcome | undefined {
    const isSingle = this.voters.length === 1;
    return isSingle || this.#connected(serving, nowMs) >= quorumOf(this.voters.length + 1)
      ? undefined
      : 'unhealthy-cluster';
  }

  promoteRefusal(id: MemberId): CallOutcome | undefined {
    const member = this.members.find((each) => each.id === id);
    if (member === undefined) return 'member-not-found';
    if (!this.caughtUp.has(id)) return 'not-in-sync';
    const started = this.voters.filter(({ name }) => name !== '').length + 1;
    return started >= quorumOf(this.voters.length + 1) ? undefined : 'not-enough-started';
  }

  removeRefusal(serving: Member, id: MemberId, nowMs: number): CallOutcome | undefined {
    const target = this.members.find((each) => each.id === id);
    if (target === undefined || target.isLearner) return undefined;
    const rest = this.voters.filter((voter) => voter !== target);
    if (rest.filter(({ name }) => name !== '').length < quorumOf(rest.length)) return 'not-enough-started';
    if (!this.isAlive(target) && target.id !== serving.id) return undefined;
    const needed = 1 + Math.floor((this.voters.length - 1) / 2);
    return this.#connected(serving, nowMs) - 1 >= needed ? undefined : 'unhealthy-cluster';
  }

  /** A committed change: what every member checks when it applies it. */
  applyAdd(peerUrl: string, nowMs: number): CallOutcome | undefined {
    const id = idFrom(peerUrl, nowMs);
    if (this.removed.has(id)) return 'member-not-found';
    if (this.members.some((member) => member.id === id)) return 'member-exists';
    if (this.members.some((member) => member.peerUrls.includes(peerUrl))) return 'peer-url-exists';
    if (this.members.filter((member) => member.isLearner).length >= this.maxLearners) return 'too-many-learners';
    this.members = [...this.members, { id, name: '', peerUrls: [peerUrl], clientUrls: [], isLearner: true }];
    return undefined;
  }

  applyPromote(id: MemberId): CallOutcome | undefined {
    const member = this.members.find((each) => each.id === id);
    if (member === undefined) return 'member-not-found';
    if (!member.isLearner) return 'not-a-learner';
    this.#replace(member, { ...member, isLearner: false });
    this.voterCounts.push(this.voters.length);
    return undefined;
  }

  applyRemove(id: MemberId): CallOutcome | undefined {
    const member = this.members.find((each) => each.id === id);
    if (member === undefined) return 'member-not-found';
    this.members = this.members.filter((each) => each !== member);
    this.removed.add(id);
    if (!member.isLearner) this.voterCounts.push(this.voters.length);
    return undefined;
  }

  moveLeader(to: MemberId): CallOutcome | undefined {
    const target = this.voters.find(({ id }) => id === to);
    if (target === undefined) return 'bad-transferee';
    if (!this.isAlive(target)) return 'timed-out-inside';
    this.#leader = to;
    return undefined;
  }
}

/** As etcd does it: from the address and the second. */
function idFrom(peerUrl: string, nowMs: number): MemberId {
  const text = `${peerUrl}${Math.floor(nowMs / 1000)}`;
  return createHash('sha1').update(text).digest('hex').slice(0, 16).replace(/^0+/, '') as MemberId;
}
