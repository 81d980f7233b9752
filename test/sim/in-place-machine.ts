// A machine with its kubelet, its pod of ipb and the unit of an attempt, as the controller meets them: through the API
// only. What the unit does next is decided by the program itself (next-host-step.ts), and reports are judged by it
// (judge-event.ts); only the disk, the boot and the connections are pretended here. All of them fail by chance.
import {
  attemptName,
  attemptSecretName,
  type HostAttempt,
  type InPlacePhase,
  inPlaceNamespace,
  type ProgressAnswer,
  type ProgressEvent,
  readAttempt,
} from '../../src/contract/in-place.ts';
import type { FakeHost } from '../../src/host/fake/fake-host.ts';
import { hasScheduleLabel } from '../../src/in-place/controller/in-place-node.ts';
import { nextHostStep, type WorkState } from '../../src/in-place/on-host/next-host-step.ts';
import { isEnd, phaseTable } from '../../src/in-place/phases.ts';
import { judgeEvents, progressAnswer } from '../../src/in-place/reporting/judge-event.ts';
import type { SimApi } from './sim-api.ts';

export interface MachineOdds {
  /** Of one report: it does not arrive, or its answer does not. */
  readonly losesReport: number;
  /** Of one look of the unit: the power is cut. */
  readonly losesPower: number;
  readonly failsPreflight: number;
  readonly failsApply: number;
}

class PowerCut extends Error {}

export class InPlaceMachine {
  /** A change of the machine is begun. */
  onApply: (attemptId: string, phase: InPlacePhase) => void = () => {};
  bootId: string;
  readonly #host: FakeHost;
  readonly #api: SimApi;
  readonly #name: string;
  readonly #odds: MachineOdds;
  readonly #chance: () => number;
  #boots = 1;
  #isKubeletOn = true;
  /** The disk: the attempt, what it wants to report, and how far its change is. */
  #attempt: HostAttempt | undefined;
  #spool: ProgressEvent[] = [];
  #work: WorkState = 'unprepared';
  #isHolding = false;
  /** The attempt and the phase whose change was begun last. */
  #journal = '';

  constructor(host: FakeHost, api: SimApi, given: { name: string; odds: MachineOdds; chance: () => number }) {
    this.#host = host;
    this.#api = api;
    this.#name = given.name;
    this.#odds = given.odds;
    this.#chance = given.chance;
    this.bootId = `${given.name}-boot-1`;
  }

  /** Boots again and again until the world ends. */
  async live(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        if (this.#attempt !== undefined && !isEnd(this.#attempt.phase)) await this.#runUnit(isOver);
        this.#startKubelet();
        await this.#nodeLife(isOver);
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error;
        this.#isKubeletOn = false;
        await this.#host.clock.sleep(3_000 + this.#chance() * 60_000);
        this.#boots += 1;
        this.bootId = `${this.#name}-boot-${this.#boots}`;
      }
    }
  }

  /** The kubelet reports; a pod runs while the node has the label. Returns when the unit is to run. */
  async #nodeLife(isOver: () => boolean): Promise<void> {
    let idleFor = '';
    while (!isOver()) {
      this.#heartbeat();
      if (this.#attempt !== undefined && (this.#attempt.phase === 'Booted' || this.#attempt.phase === 'Joining')) {
        await this.#finish();
      }
      // Also of an attempt that has ended here: what was not confirmed is sent again.
      if (this.#attempt !== undefined && this.#spool.length > 0) await this.#send(this.#attempt.attemptId);
      const node = this.#api.find('nodes', this.#name);
      const ordered = this.#order();
      if (hasScheduleLabel(node?.metadata.labels ?? {}) && ordered !== undefined && ordered !== idleFor) {
        const outcome = await this.#pod(ordered);
        if (outcome === 'staged') return;
        if (outcome === 'ended') idleFor = ordered;
      }
      await this.#pause(1_000);
    }
  }

  /** The checks, the wait for the drain is the unit's. */
  async #pod(attemptId: string): Promise<'staged' | 'ended' | 'refused'> {
    const found = this.#record(attemptId);
    if (found === undefined || isEnd(found.status.phase)) return 'refused';
    const hasBegun = [found.status.phase, ...found.status.report.phases.map(({ phase }) => phase)].some(
      (phase) => phaseTable[phase].holdsKubelet,
    );
    if (hasBegun) return 'refused';
    const isBusy = this.#attempt !== undefined && !isEnd(this.#attempt.phase) && this.#attempt.attemptId !== attemptId;
    const hasRun = this.#attempt?.attemptId === attemptId;
    if (isBusy || hasRun) return 'refused';
    this.#spool = [];
    let seq = found.status.report.ackSeq;
    const say = async (phase: InPlacePhase): Promise<void> => {
      seq += 1;
      this.#spool.push(this.#event(seq, phase));
      await this.#send(attemptId);
    };
    await say('Preflight');
    await this.#pause(1_000 + this.#chance() * 2_000);
    if (this.#chance() < this.#odds.failsPreflight) {
      await say('PreflightFailed');
      while (this.#spool.length > 0) await this.#send(attemptId);
      return 'ended';
    }
    await say('Ready');
    this.#attempt = {
      attemptId,
      os: found.spec.os,
      phase: 'Ready',
      since: this.#now(),
      bootId: this.bootId,
      seq,
      history: [],
    };
    this.#work = 'unprepared';
    return 'staged';
  }

  async #runUnit(isOver: () => boolean): Promise<void> {
    let hasStopped = false;
    let answer: ProgressAnswer | undefined;
    while (!isOver()) {
      const attempt = this.#attempt;
      if (attempt === undefined) return;
      const step = nextHostStep({
        attempt,
        bootId: this.bootId,
        now: this.#host.clock.now(),
        command: answer?.command,
        hasStopped,
        isHolding: this.#isHolding,
        work: this.#work,
        trouble: undefined,
      });
      await this.#pause(20);
      switch (step.kind) {
        case 'ask':
          await this.#pause(300);
          answer = (await this.#send(attempt.attemptId)) ?? answer;
          break;
        case 'enter':
          this.#enter(attempt, step.phase);
          answer = (await this.#send(attempt.attemptId)) ?? answer;
          break;
        case 'stop':
          this.#isHolding = true;
          this.#isKubeletOn = false;
          hasStopped = true;
          break;
        case 'prepare':
          this.#work = 'prepared';
          break;
        case 'work':
          await this.#change(attempt);
          break;
        case 'note-boot':
          this.#attempt = { ...attempt, bootId: this.bootId };
          break;
        case 'reboot':
          throw new PowerCut();
        case 'fail':
          this.#enter(attempt, step.phase);
          break;
        case 'give-back':
          this.#isHolding = false;
          break;
        case 'hand-over':
          this.#isHolding = false;
          await this.#send(attempt.attemptId);
          return;
      }
    }
  }

  /** A change that was cut off goes on where it was: it is begun once, and so is each of the two stages of a payload. */
  async #change(attempt: HostAttempt): Promise<void> {
    const { attemptId, phase } = attempt;
    const change = `${attemptId} ${phase}`;
    if (this.#journal !== change) {
      this.#journal = change;
      this.onApply(attemptId, phase);
    }
    await this.#pause(500);
    if (this.#chance() < this.#odds.failsApply) this.#enter(attempt, 'RolledBack');
    else this.#work = 'done';
  }

  async #finish(): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    if (attempt.phase === 'Booted') this.#enter(attempt, 'Joining');
    const answer = await this.#send(attempt.attemptId);
    if (this.#spool.length === 0 && answer?.phase !== undefined && isEnd(answer.phase)) {
      this.#attempt = { ...attempt, phase: answer.phase };
    }
  }

  #enter(attempt: HostAttempt, phase: InPlacePhase): void {
    const seq = attempt.seq + 1;
    // The second stage of a payload has its own work.
    if (phase === 'KubeApplying') this.#work = 'prepared';
    this.#attempt = { ...attempt, phase, since: this.#now(), bootId: this.bootId, seq };
    this.#spool.push(this.#event(seq, phase));
  }

  #event(seq: number, phase: InPlacePhase): ProgressEvent {
    const os = this.#attempt?.os ?? 'rhcos';
    const facts = { bootId: this.bootId, at: this.#now(), os, agentVersion: '1' } as const;
    return { seq, phase, step: 'enter', status: 'ok', message: `is in ${phase}`, ...facts };
  }

  /** The reports that wait, in their order; then the last one again, to learn the command. */
  async #send(attemptId: string): Promise<ProgressAnswer | undefined> {
    for (;;) {
      await this.#pause(10);
      const found = this.#record(attemptId);
      if (found === undefined || this.#chance() < this.#odds.losesReport) return undefined;
      const [event] = this.#spool;
      if (event === undefined) return progressAnswer(found);
      const verdict = judgeEvents(found.status.report, [event]);
      if (verdict.status === 'new')
        this.#api.patch('inplaceattempts', found.name, { status: { report: verdict.report } });
      if (verdict.status === 'gap') throw new Error(`${this.#name} reports ${event.seq} and leaves a gap`);
      if (this.#chance() < this.#odds.losesReport) return undefined;
      this.#spool.shift();
    }
  }

  #record(attemptId: string) {
    const object = this.#api.find('inplaceattempts', attemptName(this.#name, attemptId));
    return object === undefined ? undefined : readAttempt(object);
  }

  #order(): string | undefined {
    const secret = this.#api.find('secrets', attemptSecretName(this.#name), inPlaceNamespace);
    const { 'attempt-id': id } = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
    return id === undefined ? undefined : Buffer.from(id, 'base64').toString('utf8');
  }

  #startKubelet(): void {
    this.#isKubeletOn = true;
    if (this.#api.find('nodes', this.#name) === undefined) {
      const labels = { 'kubernetes.io/hostname': this.#name };
      this.#api.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: this.#name, labels }, spec: {} });
    }
  }

  #heartbeat(): void {
    if (!this.#isKubeletOn) throw new Error(`the kubelet of ${this.#name} reports while it is held`);
    const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: this.bootId } };
    const node = this.#api.find('nodes', this.#name);
    if (node === undefined) return this.#startKubelet();
    if (JSON.stringify(node['status']) !== JSON.stringify(status)) this.#api.patch('nodes', this.#name, { status });
  }

  async #pause(ms: number): Promise<void> {
    await this.#host.clock.sleep(ms);
    if (this.#chance() < this.#odds.losesPower) throw new PowerCut();
  }

  #now(): string {
    return this.#host.clock.now().toISOString();
  }
}
