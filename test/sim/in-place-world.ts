// A cluster in memory in which machines are bootstrapped in place: the API, machines, people who do the wrong thing, and
// controllers that are killed at any of their writes. What must stay true is checked at every change of the API.
import { isDeepStrictEqual } from 'node:util';
import {
  attemptKind,
  attemptName,
  attemptSecretName,
  type InPlaceAttempt,
  type InPlacePhase,
  type InPlaceSystem,
  inPlaceAnnotations,
  inPlaceNamespace,
  readAttempt,
  restoringTaint,
  scheduledValue,
  scheduleLabels,
} from '../../src/contract/in-place.ts';
import { type FakeHost, fakeHost } from '../../src/host/fake/fake-host.ts';
import { hasScheduleLabel, inPlaceNode } from '../../src/in-place/controller/in-place-node.ts';
import { lostLabels, lostTaints } from '../../src/in-place/controller/merge-node.ts';
import { readSnapshot } from '../../src/in-place/controller/node-snapshot.ts';
import { runInPlaceController } from '../../src/in-place/controller/run-controller.ts';
import { isEnd, isLater } from '../../src/in-place/phases.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { InPlaceMachine, type MachineOdds } from './in-place-machine.ts';
import { type Change, type RequestFault, SimApi } from './sim-api.ts';
import { chance } from './sim-clock.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly odds: MachineOdds;
  readonly nodes: readonly string[];
  /** Which route their attempts take; the Ignition route where nothing is said. */
  readonly os?: InPlaceSystem;
}

export class InPlaceWorld {
  readonly host: FakeHost;
  readonly api: SimApi;
  readonly chance: () => number;
  /** What was not as it must be. */
  readonly violations: string[] = [];
  readonly #machines = new Map<string, InPlaceMachine>();
  readonly #applies = new Map<string, number>();
  readonly #histories = new Map<string, InPlaceAttempt['status']['history']>();
  readonly #os: InPlaceSystem;
  #isOver = false;
  readonly #end = new AbortController();
  readonly #living: Promise<unknown>[] = [];

  constructor({ seed, odds, nodes, os = 'rhcos' }: WorldOptions) {
    this.#os = os;
    this.chance = chance(seed);
    this.host = fakeHost({ seed: String(seed) });
    this.api = new SimApi(this.host);
    if (seed % 2 === 0) this.api.watchLagMs = () => this.chance() * 2_000;
    this.api.onChange = (change) => this.#check(change);
    for (const name of nodes) this.#machine(name, odds);
  }

  get attempts(): readonly InPlaceAttempt[] {
    return this.api.all('inplaceattempts').flatMap((object) => readAttempt(object) ?? []);
  }

  /** How often the change of an attempt was begun; of a payload, that of its first stage. */
  applies(attemptId: string, phase: InPlacePhase = 'Applying'): number {
    return this.#applies.get(`${attemptId} ${phase}`) ?? 0;
  }

  node(name: string): KubernetesObject | undefined {
    return this.api.find('nodes', name);
  }

  /** As `ipb prepare` does. */
  order(node: string, attemptId: string): void {
    const inHours = (hours: number): string =>
      new Date(this.host.clock.now().getTime() + hours * 3_600_000).toISOString();
    const texts = { os: this.#os, 'attempt-id': attemptId, 'not-after': inHours(2) };
    const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    this.api.put('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: attemptSecretName(node), namespace: inPlaceNamespace },
      data: Object.fromEntries(data),
    });
  }

  /** As `ipb start` does. */
  start(node: string): void {
    this.api.patch('nodes', node, { spec: { unschedulable: true } });
    this.api.patch('nodes', node, { metadata: { labels: { [scheduleLabels[0]]: scheduledValue } } });
  }

  abort(node: string, attemptId: string): void {
    this.api.patch('inplaceattempts', attemptName(node, attemptId), { status: { isAborted: true } });
  }

  /** Runs until it is killed: before or after its nth write. */
  control(killAtWrite: number): Promise<void> {
    const life = new AbortController();
    const isBefore = this.chance() < 0.5;
    let writes = 0;
    const fault: RequestFault = ({ isWrite }) => {
      if (life.signal.aborted || this.#isOver) return 'lose-request';
      writes += isWrite ? 1 : 0;
      if (!isWrite || writes < killAtWrite) return undefined;
      life.abort(new Error('killed'));
      return isBefore ? 'lose-request' : 'lose-answer';
    };
    const running = this.#control(AbortSignal.any([life.signal, this.#end.signal]), fault);
    this.#living.push(running);
    return running;
  }

  async #control(signal: AbortSignal, fault: RequestFault): Promise<void> {
    await using client = await this.api.client(fault);
    try {
      await runInPlaceController({
        client,
        host: this.host,
        clusterId: 'c1',
        mastersMissing: async () => [],
        signal,
        mayAct: () => !signal.aborted,
        onEvent: () => {},
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Until every attempt that was asked for has ended and nothing moves any more, or the time is over. */
  async settle(limitMs: number): Promise<boolean> {
    const endMs = this.host.clock.monotonicMs() + limitMs;
    while (this.host.clock.monotonicMs() < endMs) {
      const before = this.api.log.length;
      await this.host.clock.sleep(60_000);
      const isEnded = this.attempts.every(({ status }) => isEnd(status.phase));
      if (isEnded && this.api.log.length === before) return true;
    }
    return false;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#end.abort(new Error('the world ends'));
    await Promise.all(this.#living);
  }

  #machine(name: string, odds: MachineOdds): void {
    const machine = new InPlaceMachine(this.host, this.api, { name, odds, chance: this.chance });
    this.#machines.set(name, machine);
    machine.onApply = (attemptId, phase) => {
      this.#applies.set(`${attemptId} ${phase}`, this.applies(attemptId, phase) + 1);
      this.#checkApply(name, attemptId, phase);
    };
    const labels = { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/worker': '', app: 'a', team: 't' };
    this.api.put('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels, annotations: {} },
      spec: { taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }] },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: machine.bootId } },
    });
    const living = machine.live(() => this.#isOver).catch((error: unknown) => this.violations.push(String(error)));
    this.#living.push(living);
  }

  #fail(text: string): void {
    this.violations.push(`at ${this.host.clock.monotonicMs() / 1000} s: ${text}`);
  }

  #checkApply(node: string, attemptId: string, phase: InPlacePhase): void {
    const own = this.attempts.find((attempt) => attempt.name === attemptName(node, attemptId));
    if (own?.status.cleared === undefined) this.#fail(`${attemptId} is applied and was not cleared`);
    if (this.applies(attemptId, phase) > 1) this.#fail(`${phase} of ${attemptId} is done twice`);
  }

  #check(change: Change): void {
    if (change.resource === 'inplaceattempts') this.#checkAttempt(change.object);
    if (change.resource === 'nodes') this.#checkNode(change.object);
  }

  #checkAttempt(object: KubernetesObject): void {
    const attempt = readAttempt(object);
    if (attempt === undefined) return this.#fail(`${object.metadata.name} cannot be read`);
    const { history, command, cleared, phase } = attempt.status;
    const before = this.#histories.get(attempt.name) ?? [];
    this.#histories.set(attempt.name, history);
    if (!isDeepStrictEqual(history.slice(0, before.length), before)) this.#fail(`${attempt.name} has another history`);
    for (const [index, entry] of history.entries()) {
      const next = history[index + 1];
      if (next !== undefined && !isLater(entry.phase, next.phase)) this.#fail(`${entry.phase} → ${next.phase}`);
    }
    if (command === 'cleared' && !isEnd(phase)) {
      if (cleared?.version === '') return;
      const answered = this.api.log.find(
        (one) => one.resource === 'nodes' && one.object.metadata.resourceVersion === cleared?.version,
      );
      if (answered === undefined) return this.#fail('cleared, and no such version of the Node');
      const node = inPlaceNode(answered.object);
      if (hasScheduleLabel(node.labels)) this.#fail('cleared, and the label is there');
      if (node.bootId !== cleared?.bootId) this.#fail('cleared in another boot');
      const rivals = this.attempts.filter(
        (one) => one.spec.node === attempt.spec.node && one.status.command === 'cleared' && !isEnd(one.status.phase),
      );
      if (rivals.length > 1) this.#fail(`two attempts are cleared: ${rivals.map(({ name }) => name).join(', ')}`);
    }
  }

  /** The cordon of an attempt that succeeds goes when everything else is back. */
  #checkNode(object: KubernetesObject): void {
    const node = inPlaceNode(object);
    const before = this.api.log
      .slice(0, -1)
      .findLast(({ resource, object: { metadata } }) => resource === 'nodes' && metadata.name === node.name);
    const was = before === undefined ? undefined : inPlaceNode(before.object);
    if (was === undefined || was.claim === '' || node.claim !== '' || node.isCordoned || was.uid !== node.uid) return;
    const attempt = this.attempts.find(({ name }) => name === was.claim);
    if (attempt?.status.phase !== 'Restoring') return;
    const snapshot = readSnapshot(this.api.find('configmaps', `snap-${was.claim}`, inPlaceNamespace));
    if (snapshot === undefined) return this.#fail(`${was.claim} has no snapshot`);
    if (Object.keys(lostLabels(snapshot, node)).length > 0) this.#fail('uncordoned before its labels were back');
    if (lostTaints(snapshot, node).length > 0) this.#fail('uncordoned before its taints were back');
  }

  /** What is left on the nodes when everything has ended. */
  leftovers(): readonly string[] {
    return this.api.all('nodes').flatMap((object) => {
      const { name, taints, annotations } = inPlaceNode(object);
      const isClaimed = annotations[inPlaceAnnotations.claim] !== undefined;
      const isTainted = taints.some(({ key }) => key === restoringTaint.key);
      return [...(isClaimed ? [`${name} is claimed`] : []), ...(isTainted ? [`${name} is tainted`] : [])];
    });
  }

  /** With the Secrets of its nodes, as the workstation makes them. */
  run(name: string, names: readonly string[], maxConcurrent = 1): void {
    const nodes = names.map((node) => ({ name: node, attemptId: `id-${node}-0` }));
    for (const node of nodes) this.order(node.name, node.attemptId);
    const spec = { pool: 'worker', nodes, maxConcurrent, failuresMax: 2 };
    this.api.put('inplaceruns', { apiVersion: attemptKind.apiVersion, kind: 'InPlaceRun', metadata: { name }, spec });
  }
}
