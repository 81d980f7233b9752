// One simulated handoff: the model of etcd, agents that start members by the product's own rules, faults at times chosen
// by a seed, and the invariants, asserted whenever a membership call is sent.
import type { Answer, EtcdClient, EtcdClients } from '../../src/etcd/client.ts';
import { type Member, type MemberId, quorumOf } from '../../src/etcd/member.ts';
import type { CallOutcome } from '../../src/etcd/outcomes.ts';
import { membersToPublish } from '../../src/membership/etcd-endpoints.ts';
import { decideStart } from '../../src/membership/member-start.ts';
import type { MembershipFacts, ObservedCluster } from '../../src/membership/observed-cluster.ts';
import { EtcdModel, type ModelMachine, modelCluster } from './etcd-model.ts';
import { chance, type SimClock, simClock } from './sim-clock.ts';

/** A broken invariant. The message carries seed and time, so that the run can be repeated. */
export class Violation extends Error {}

export interface Fault {
  readonly atMs: number;
  readonly kind: 'kill' | 'wipe' | 'cut-off' | 'hide' | 'crash' | 'lose-request' | 'lose-reply';
  readonly machine: number;
  readonly forMs: number;
}

export interface WorldOptions {
  readonly seed: number;
  readonly masterCount: number;
  readonly faults: readonly Fault[];
}

const agentEveryMs = 100;

export class MembershipWorld {
  readonly clock: SimClock = simClock();
  readonly model: EtcdModel;
  readonly seed: number;
  readonly random: () => number;
  readonly masters: readonly ModelMachine[];
  readonly bootstrap: ModelMachine;
  readonly calls: string[] = [];
  isCommitted = false;
  /** Two act at once, as they never should: then their calls may cross, but nothing else may break. */
  isShared = false;
  /** Aborts the running loop, as a killed process would end it. */
  crash: () => void = () => {};
  published: readonly MemberId[] = [];
  #faults: Fault[];
  readonly #repairs: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #readyAtMs: ReadonlyMap<string, number>;
  readonly #held = new Map<string, number>();
  readonly #lostData = new Map<string, MemberId>();
  #next: 'lose-request' | 'lose-reply' | undefined;
  #inFlight = 0;
  #committing = 0;
  #agentsAtMs = 0;

  constructor({ seed, masterCount, faults }: WorldOptions) {
    this.seed = seed;
    this.random = chance(seed);
    const names = ['bootstrap', ...Array.from({ length: masterCount }, (_, index) => `master-${index}`)];
    this.model = new EtcdModel(names, masterCount);
    [this.bootstrap, ...this.masters] = this.model.machines as [ModelMachine, ...ModelMachine[]];
    this.#readyAtMs = new Map(names.map((name) => [name, this.random() * 4000]));
    this.#faults = faults.toSorted((a, b) => a.atMs - b.atMs);
    this.clock.onJump = (nowMs) => this.#advance(nowMs);
  }

  get isQuiet(): boolean {
    return this.#faults.length === 0 && this.#repairs.length === 0;
  }

  /** Everything that happened since the last look, in steps of the agents' own rhythm. */
  #advance(nowMs: number): void {
    while (this.#agentsAtMs + agentEveryMs <= nowMs) {
      this.#agentsAtMs += agentEveryMs;
      this.#strike(this.#agentsAtMs);
      this.model.tick(this.#agentsAtMs);
      for (const machine of this.model.machines) this.#agent(machine, this.#agentsAtMs);
    }
    this.model.tick(nowMs);
  }

  #strike(nowMs: number): void {
    while (this.#faults[0] !== undefined && this.#faults[0].atMs <= nowMs) this.#inflict(this.#faults.shift()!, nowMs);
    for (const repair of this.#repairs.filter(({ atMs }) => atMs <= nowMs)) {
      this.#repairs.splice(this.#repairs.indexOf(repair), 1);
      repair.run();
    }
  }

  #inflict({ kind, machine: index, forMs }: Fault, nowMs: number): void {
    const machine = this.model.machines[index % this.model.machines.length]!;
    const later = (run: () => void): void => void this.#repairs.push({ atMs: nowMs + forMs, run });
    if (kind === 'crash') return this.crash();
    if (kind === 'lose-request' || kind === 'lose-reply') {
      this.#next = kind;
      return;
    }
    if (kind === 'cut-off' || kind === 'hide') {
      const flag = kind === 'hide' ? 'isHidden' : 'isCutOff';
      machine[flag] = true;
      return later(() => {
        machine[flag] = false;
      });
    }
    if (kind === 'wipe' && !this.#mayWipe(machine)) return;
    machine.isRunning = false;
    if (kind === 'wipe') machine.data = undefined;
    this.#held.set(machine.name, nowMs + forMs);
  }

  /** Losing the disks of a majority, now or by the change under way, is no fault of ours, and nobody could mend it. */
  #mayWipe(machine: ModelMachine): boolean {
    const rest = this.model.voters.filter((member) => this.model.machineOf(member) !== machine);
    const whole = rest.filter((member) => this.model.machineOf(member).data === member.id);
    return this.#committing === 0 && machine !== this.bootstrap && whole.length >= quorumOf(this.model.voters.length);
  }

  #agent(machine: ModelMachine, nowMs: number): void {
    if (machine.isRunning || (this.#held.get(machine.name) ?? 0) > nowMs) return;
    const { name, peerUrl, data } = machine;
    const decision = decideStart({
      name,
      peerUrl,
      listing:
        this.model.leader === undefined || machine.isCutOff
          ? { status: 'unreachable' }
          : { status: 'read', clusterId: modelCluster, members: this.model.members },
      data: data === undefined ? { status: 'empty' } : { status: 'present', member: data, cluster: modelCluster },
      names: new Map(),
    });
    this.#lostData.delete(name);
    if (decision.kind === 'data-lost') this.#lostData.set(name, decision.member);
    if (decision.kind === 'archive') machine.data = undefined;
    if (decision.kind === 'join') {
      machine.data = this.model.members.find((member) => member.peerUrls.includes(peerUrl))!.id;
      this.model.caughtUp.delete(machine.data);
    }
    if (decision.kind === 'join' || decision.kind === 'resume') {
      machine.isRunning = true;
      machine.startedAtMs = nowMs;
      machine.catchUpMs = this.random() * 1500;
    }
  }

  facts(): MembershipFacts {
    const nowMs = this.clock.monotonicMs();
    const { bootstrap } = this;
    return {
      bootstrap,
      masters: this.masters.map((machine) => ({
        name: machine.name,
        peerUrl: machine.peerUrl,
        clientUrl: machine.clientUrl,
        readiness:
          nowMs >= (this.#readyAtMs.get(machine.name) ?? 0) && !machine.isRunning
            ? {
                agoMs: (this.#held.get(machine.name) ?? 0) > nowMs ? 60_000 : 0,
                etcdVersion: '3.7.3',
                fsyncP99Ms: 5,
                clockOffsetMs: 0,
              }
            : undefined,
        lostDataOf: this.#lostData.get(machine.name),
        freeDiskBytes: 2 ** 33,
        isLeaving: false,
        isGone: false,
      })),
      handoff: {
        isCommitted: this.isCommitted,
        readyApiServers: this.masters.map(({ name }) => name),
        bootstrapApi: 'closed',
        publishedMembers: this.published,
      },
      maxLearners: this.model.maxLearners,
    };
  }

  look(seen: ObservedCluster): void {
    this.published = membersToPublish(seen);
  }

  assert(isSo: boolean, what: string): void {
    if (isSo) return;
    const last = this.calls.slice(-8).join('\n  ');
    throw new Violation(`seed ${this.seed}, ${this.clock.monotonicMs()} ms: ${what}\n  ${last}`);
  }

  get clients(): EtcdClients {
    return { at: (url) => this.#client(url), [Symbol.dispose]: () => {} };
  }

  #client(url: string): EtcdClient {
    const machine = this.model.machines.find(({ clientUrl }) => clientUrl === url)!;
    const failed = (outcome: CallOutcome): Answer<never> => ({
      status: 'failed',
      call: 'call',
      url,
      outcome,
      said: outcome,
    });
    const timeout = async (ms: number, signal?: AbortSignal): Promise<Answer<never>> => {
      await this.clock.sleep(ms, signal);
      return failed('no-answer');
    };
    /** The member there, or how the call ends without one. */
    const reach = async (
      needs: 'a process' | 'a voter' | 'a majority',
      options?: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined },
    ): Promise<Member | Answer<never>> => {
      options?.signal?.throwIfAborted();
      if (machine.isCutOff || machine.isHidden) return timeout(options?.timeoutMs ?? 1000, options?.signal);
      const member = this.model.memberOn(machine);
      if (!machine.isRunning || member === undefined) return failed('unreachable');
      if (needs !== 'a process' && member.isLearner) return failed('learner-cannot-serve');
      if (needs === 'a majority' && this.model.leader === undefined)
        return timeout(options?.timeoutMs ?? 1000, options?.signal);
      return member;
    };
    const change = async (
      what: string,
      signal: AbortSignal | undefined,
      { check, apply }: { check: (serving: Member) => CallOutcome | undefined; apply: () => CallOutcome | undefined },
    ): Promise<Answer<readonly Member[]>> => {
      this.calls.push(`${this.clock.monotonicMs()} ${what} via ${machine.name}`);
      this.assert(this.#inFlight === 0 || this.isShared, `two calls are in flight: ${what}`);
      this.#inFlight += 1;
      try {
        const serving = await reach('a majority', { signal, timeoutMs: 10_000 });
        if ('status' in serving) return serving;
        const refusal = check(serving);
        if (refusal !== undefined) return failed(refusal);
        const loss = this.#next;
        this.#next = undefined;
        if (loss === 'lose-request') return await timeout(10_000, signal);
        const outcome = await this.#commit(apply, signal);
        if (outcome === 'timed-out-inside') return await timeout(7000, signal);
        if (loss === 'lose-reply') return await timeout(10_000, signal);
        return outcome === undefined ? { status: 'ok', value: this.model.members } : failed(outcome);
      } finally {
        this.#inFlight -= 1;
      }
    };
    const { model, clock } = this;
    const nothing = (answer: Answer<unknown>): Answer<void> =>
      answer.status === 'ok' ? { status: 'ok', value: undefined } : answer;
    const unused = async (): Promise<never> => {
      throw new Error('the membership loop has no business with this call');
    };
    return {
      url,
      memberList: async (options) => {
        const member = await reach('a majority', options);
        return 'status' in member
          ? member
          : { status: 'ok', value: { clusterId: modelCluster, members: model.members } };
      },
      get: async (_key, options) => {
        const member = await reach(options.isSerializable ? 'a process' : 'a majority', options);
        return 'status' in member ? member : { status: 'ok', value: undefined };
      },
      status: async (options) => {
        const member = await reach('a process', options);
        if ('status' in member) return member;
        const index = model.caughtUp.has(member.id) ? 5000 : 100;
        return {
          status: 'ok',
          value: {
            clusterId: modelCluster,
            id: member.id,
            leader: model.leader?.id,
            version: '3.7.3',
            raftIndex: index,
            raftAppliedIndex: index,
            raftTerm: 2,
            revision: 4000,
            dbSizeBytes: 2 ** 20,
            isLearner: member.isLearner,
            alarms: [],
          },
        };
      },
      addLearner: (peerUrl, options) => {
        this.#assertAdd(peerUrl);
        return change(`add ${peerUrl}`, options?.signal, {
          check: (serving) => model.addRefusal(serving, clock.monotonicMs()),
          apply: () => model.applyAdd(peerUrl, clock.monotonicMs()),
        });
      },
      promote: (id, options) => {
        this.#assertPromote(id);
        return change(`promote ${id}`, options?.signal, {
          check: () => model.promoteRefusal(id),
          apply: () => model.applyPromote(id),
        });
      },
      remove: (id, options) => {
        this.#assertRemove(id, machine);
        return change(`remove ${id}`, options?.signal, {
          check: (serving) => model.removeRefusal(serving, id, clock.monotonicMs()),
          apply: () => model.applyRemove(id),
        });
      },
      moveLeader: async (to, options) =>
        nothing(
          await change(`lead ${to}`, options?.signal, {
            check: (serving) => (model.leader === serving ? undefined : 'not-leader'),
            apply: () => model.moveLeader(to),
          }),
        ),
      disarm: unused,
      put: unused,
      putIf: unused,
      snapshot: () => {
        throw new Error('the membership loop takes no snapshots');
      },
    };
  }

  /** Once proposed, a change goes its way, now and then slowly, whether or not the caller lives to hear of it. */
  #commit(apply: () => CallOutcome | undefined, signal: AbortSignal | undefined): Promise<CallOutcome | undefined> {
    const isSlow = this.random() < 0.05;
    this.#committing += 1;
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.clock.after(1 + this.random() * (isSlow ? 3000 : 20), () => {
        this.#committing -= 1;
        this.model.tick(this.clock.monotonicMs());
        resolve(this.model.leader === undefined ? 'timed-out-inside' : apply());
      });
    });
  }

  #assertMajority(voters: readonly Member[], what: string): void {
    const alive = voters.filter((member) => this.model.isAlive(member)).length;
    this.assert(alive >= quorumOf(voters.length), `${what} would leave ${alive} of ${voters.length} voters alive`);
  }

  #assertAdd(peerUrl: string): void {
    const isThere = this.model.members.some((member) => member.peerUrls.includes(peerUrl));
    this.assert(!isThere || this.isShared, `${peerUrl} is added twice`);
    this.#assertMajority(this.model.voters, 'adding');
  }

  #assertPromote(id: MemberId): void {
    const member = this.model.members.find((each) => each.id === id);
    if (member === undefined) return;
    const { name } = this.model.machineOf(member);
    this.assert(this.model.isAlive(member), `${name} is promoted though it is dead`);
    const dead = this.model.voters.find((voter) => !this.model.isAlive(voter));
    this.assert(dead === undefined, `${name} is promoted while ${dead?.name} is dead`);
  }

  #assertRemove(id: MemberId, via: ModelMachine): void {
    const member = this.model.members.find((each) => each.id === id);
    if (member === undefined) return;
    const machine = this.model.machineOf(member);
    this.assert(machine !== via, `${machine.name} is removed through itself`);
    this.#assertMajority(
      this.model.voters.filter((voter) => voter !== member),
      `removing ${machine.name}`,
    );
    if (machine !== this.bootstrap) {
      this.assert(!this.model.isAlive(member) || machine.isHidden, `${machine.name} is removed though it is alive`);
      return;
    }
    this.assert(this.isCommitted, 'the bootstrap member is removed before the handoff is on record');
    const masters = this.masters.filter((master) =>
      this.model.voters.some((voter) => this.model.machineOf(voter) === master),
    );
    this.assert(masters.length === this.masters.length, 'the bootstrap member is removed before every master votes');
    const dead = this.model.voters.filter((voter) => voter !== member && !this.model.isAlive(voter));
    this.assert(dead.length === 0, 'the bootstrap member is removed while a master is dead');
  }
}
