// The controller of in-place attempts: watches nodes, the Secrets that order attempts, attempts and runs; decides by
// pure functions (next-attempts.ts, next-attempt-step.ts, next-run-step.ts) and writes. The agent that holds the Lease
// runs it. Every pass begins with what the API says now; a call that fails is made again in a later pass.
import { isDeepStrictEqual } from 'node:util';
import {
  attemptKind,
  type InPlaceAttempt,
  type InPlaceStatus,
  inPlaceAnnotations,
  inPlaceNamespace,
  readAttempt,
  readInPlaceStatus,
} from '../../contract/in-place.ts';
import { type InPlaceRun, readInPlaceRun, runKind } from '../../contract/in-place-run.ts';
import { nodeConfigAnnotations, readDrainProgress } from '../../contract/machine-config-node.ts';
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { type FirstlightError, isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { attemptCall } from '../../kubernetes/attempt-call.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { watchTogether } from '../../kubernetes/watch.ts';
import { Drains, type DrainTask } from '../../pool-rollout/drains.ts';
import { Doorbell } from '../../workflow/doorbell.ts';
import { pause } from '../../workflow/pause.ts';
import { isEnd } from '../phases.ts';
import { type InPlaceNode, inPlaceNode, inPlaceNodeInBrief } from './in-place-node.ts';
import { InPlaceWriter, type SeenAttempt } from './in-place-writer.ts';
import { type AttemptStep, nextAttemptStep, type ObservedAttempt } from './next-attempt-step.ts';
import { attemptOrder, type IgnoredLabel, nextAttempts, orderInBrief, staleAttempts } from './next-attempts.ts';
import { nextRunStep } from './next-run-step.ts';
import type { NodeSnapshot } from './node-snapshot.ts';

export type InPlaceEvent =
  | { readonly kind: 'created'; readonly attempt: string }
  | { readonly kind: 'step'; readonly attempt: string; readonly step: AttemptStep['kind'] }
  | { readonly kind: 'started'; readonly run: string; readonly node: string }
  | ({ readonly kind: 'ignored' } & IgnoredLabel)
  | { readonly kind: 'trouble'; readonly error: FirstlightError };

export interface InPlaceControllerOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly clusterId: string;
  /** What is missing before this master may go down: another that is not Ready, an API or a member that is silent. */
  readonly mastersMissing: (except: string) => Promise<readonly Missing[]>;
  readonly signal: AbortSignal;
  /** Whether we still hold the Lease; checked before every act. */
  readonly mayAct: () => boolean;
  readonly onEvent: (event: InPlaceEvent) => void;
}

/** Limits are looked at, and failed calls are made again, after this long even without a change. */
const tickMs = 30_000;
const tickWhileRunningMs = 5_000;
const againMs = 500;

const races = [kubernetesErrors.CONFLICT, kubernetesErrors.NOT_FOUND, kubernetesErrors.ALREADY_EXISTS];

const sources = {
  nodes: { kind: { apiVersion: 'v1', kind: 'Node' }, keep: inPlaceNodeInBrief },
  secrets: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    selection: { namespace: inPlaceNamespace },
    keep: orderInBrief,
  },
  attempts: { kind: attemptKind },
  runs: { kind: runKind },
};
type Seen = Readonly<Record<keyof typeof sources, readonly KubernetesObject[]>>;

/** Ends only by throwing the reason of the signal. */
export async function runInPlaceController(options: InPlaceControllerOptions): Promise<never> {
  const { client, host } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  await using controller = new InPlaceController({ ...options, signal });
  const watching = async (): Promise<never> => {
    const onTrouble = (error: FirstlightError): void => controller.trouble(error);
    for await (const seen of watchTogether({ client, host, signal, onTrouble }, sources)) controller.see(seen);
    throw new Error('a watch ends only by throwing');
  };
  const tasks = [watching(), controller.run()];
  try {
    return await Promise.race(tasks);
  } finally {
    over.abort(new Error('this controller does not lead any more'));
    await Promise.allSettled(tasks);
  }
}

/** The state of one pass; what was written since counts. */
interface World {
  readonly nodes: readonly InPlaceNode[];
  readonly attempts: readonly SeenAttempt[];
  readonly runs: readonly { readonly run: InPlaceRun; readonly object: KubernetesObject }[];
}

class InPlaceController implements AsyncDisposable {
  readonly #options: InPlaceControllerOptions;
  readonly #changed = new Doorbell();
  readonly #writer: InPlaceWriter;
  readonly #drains: Drains;
  /** Attempts whose node is empty. Lost with this process: the next one finds the node empty at once. */
  readonly #drained = new Set<string>();
  readonly #snapshots = new Map<string, NodeSnapshot>();
  /** Each is said once. */
  readonly #ignored = new Set<string>();
  /** Made in this process, and perhaps not in the watch yet. */
  #created: readonly KubernetesObject[] = [];
  #seen: Seen | undefined;
  /** The attempt of the master that was told last that it may go down; its status says so a moment later. */
  #turnOfMasters: string | undefined;
  #isAgainDue = false;

  constructor(options: InPlaceControllerOptions) {
    this.#options = options;
    this.#writer = new InPlaceWriter(options);
    const onTrouble = (error: FirstlightError): void => this.trouble(error);
    const onDrained = ({ request }: DrainTask): void => {
      this.#drained.add(request);
      this.#changed.ring();
    };
    this.#drains = new Drains({ ...options, onTrouble, onDrained });
  }

  /** Until the add-ons are applied there are neither such kinds nor rights to them, and nothing to do. */
  trouble(error: FirstlightError): void {
    const isEarly = isError(error, kubernetesErrors.NO_SUCH_KIND) || isError(error, kubernetesErrors.FORBIDDEN);
    if (this.#seen === undefined && isEarly) return;
    this.#options.onEvent({ kind: 'trouble', error });
  }

  see(seen: Seen): void {
    this.#seen = seen;
    this.#changed.ring();
  }

  async run(): Promise<never> {
    const { host, signal, mayAct } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const { rings } = this.#changed;
      this.#isAgainDue = false;
      const seen = this.#seen;
      if (seen !== undefined && mayAct()) await this.#pass(seen);
      const isRunning =
        seen !== undefined && this.#world(seen).attempts.some(({ attempt }) => isRunningAttempt(attempt));
      const wake = (end: AbortSignal): Promise<void> => this.#changed.rung(rings, end);
      const ms = this.#isAgainDue ? againMs : isRunning ? tickWhileRunningMs : tickMs;
      await pause(host.clock, { ms, signal, wake });
    }
  }

  #world(seen: Seen): World {
    const newest = (objects: readonly KubernetesObject[]) => this.#writer.newest(objects);
    const names = new Set(seen.attempts.map(({ metadata }) => metadata.name));
    this.#created = this.#created.filter(({ metadata }) => !names.has(metadata.name));
    return {
      nodes: newest(seen.nodes).map(inPlaceNode),
      attempts: newest([...seen.attempts, ...this.#created]).flatMap((object) => {
        const attempt = readAttempt(object);
        return attempt === undefined ? [] : [{ attempt, object }];
      }),
      runs: newest(seen.runs).flatMap((object) => {
        const run = readInPlaceRun(object);
        return run === undefined ? [] : [{ run, object }];
      }),
    };
  }

  async #pass(seen: Seen): Promise<void> {
    await this.#runs(seen);
    await this.#newAttempts(seen);
    const drains: DrainTask[] = [];
    for (const { attempt } of this.#world(seen).attempts)
      drains.push(...(await this.#followAttempt(attempt.name, seen)));
    this.#drains.keep(drains);
    // Once more: a run goes on as soon as an attempt has ended.
    await this.#runs(seen);
    await this.#mirror(seen);
    const stale = staleAttempts(this.#world(seen).attempts.map(({ attempt }) => attempt));
    for (const name of stale) await this.#attempt(() => this.#writer.remove(name));
  }

  async #newAttempts(seen: Seen): Promise<void> {
    const { clusterId, host, onEvent } = this.#options;
    const { nodes, attempts, runs } = this.#world(seen);
    const { create, ignored } = nextAttempts({
      nodes,
      attempts: attempts.map(({ attempt }) => attempt),
      runs: runs.map(({ run }) => run),
      orders: seen.secrets.flatMap((secret) => attemptOrder(secret) ?? []),
      clusterId,
      now: host.clock.now(),
    });
    for (const spec of create) {
      await this.#attempt(async () => {
        const made = await this.#writer.create(spec);
        this.#created = [...this.#created, made];
        onEvent({ kind: 'created', attempt: made.metadata.name });
      });
    }
    const keys = new Set(ignored.map(({ node, why }) => `${node}\n${why}`));
    for (const key of this.#ignored) if (!keys.has(key)) this.#ignored.delete(key);
    for (const each of ignored) await this.#sayIgnored(each);
  }

  async #sayIgnored({ node, why }: IgnoredLabel): Promise<void> {
    const key = `${node}\n${why}`;
    if (this.#ignored.has(key)) return;
    this.#ignored.add(key);
    this.#options.onEvent({ kind: 'ignored', node, why });
    await this.#attempt(() => this.#writer.event(node, { reason: 'IPBIgnored', message: why, type: 'Warning' }));
  }

  /** Every step that can be made now, one after the other. */
  async #followAttempt(name: string, seen: Seen): Promise<readonly DrainTask[]> {
    const { onEvent } = this.#options;
    for (let steps = 0; steps < stepsMax; steps += 1) {
      const world = this.#world(seen);
      const found = world.attempts.find(({ attempt }) => attempt.name === name);
      if (found === undefined) return [];
      let view: ObservedAttempt | undefined;
      let isMade = await this.#attempt(async () => {
        view = await this.#view(found.attempt, world);
      });
      if (!isMade || view === undefined) return [];
      const step = nextAttemptStep(view);
      const { node } = view;
      isMade = await this.#attempt(() => this.#writer.carryOut(found, node, step));
      if (step.kind === 'drain') return [this.#drainTask(found.attempt, world)];
      if (!isMade || step.kind === 'rest') return [];
      onEvent({ kind: 'step', attempt: name, step: step.kind });
    }
    this.#isAgainDue = true;
    return [];
  }

  async #view(attempt: InPlaceAttempt, { nodes, attempts }: World): Promise<ObservedAttempt> {
    const view = {
      attempt,
      node: nodes.find(({ name }) => name === attempt.spec.node),
      snapshot: await this.#snapshot(attempt),
      isDrained: this.#drained.has(attempt.name),
      now: this.#options.host.clock.now(),
    };
    const whole = (node: InPlaceNode | undefined): ObservedAttempt => ({
      ...view,
      node,
      rival: rivalOf(attempt, node, attempts),
      isOnlyMaster: node?.isMaster === true && nodes.filter(({ isMaster }) => isMaster).length === 1,
    });
    // The watch may be behind: what ends an attempt is looked at again.
    if (nextAttemptStep(whole(view.node)).kind !== 'fail') return whole(view.node);
    return whole(await this.#writer.nodeNow(attempt.spec.node));
  }

  /** Immutable, and so read once. */
  async #snapshot(attempt: InPlaceAttempt): Promise<NodeSnapshot | undefined> {
    const { name, status } = attempt;
    if (isEnd(status.phase)) this.#snapshots.delete(name);
    if (isEnd(status.phase) || status.snapshot === undefined) return undefined;
    const found = this.#snapshots.get(name) ?? (await this.#writer.snapshotOf(attempt));
    if (found !== undefined) this.#snapshots.set(name, found);
    return found;
  }

  #drainTask(attempt: InPlaceAttempt, { nodes }: World): DrainTask {
    const { node: name } = attempt.spec;
    const node = nodes.find((each) => each.name === name);
    const { since } = readDrainProgress(node?.annotations[nodeConfigAnnotations.drainProgress]) ?? {};
    const missing = async (): Promise<readonly Missing[]> =>
      node?.isMaster === true ? this.#mastersMissing(attempt) : [];
    const isOnlyNode = nodes.length === 1;
    const isSilent = (): boolean => this.#nodesNow().some((each) => each.name === name && each.isSilent);
    return { node: name, request: attempt.name, answer: {}, since, isOnlyNode, isSilent, missing };
  }

  #nodesNow(): readonly InPlaceNode[] {
    return this.#seen === undefined ? [] : this.#world(this.#seen).nodes;
  }

  /** Masters go one at a time, whoever asks for it. */
  async #mastersMissing(asking: InPlaceAttempt): Promise<readonly Missing[]> {
    const name = asking.spec.node;
    const { nodes, attempts } = this.#seen === undefined ? { nodes: [], attempts: [] } : this.#world(this.#seen);
    const others = nodes.filter((node) => node.isMaster && node.name !== name);
    const busy = others.flatMap((node): readonly Missing[] => {
      if (node.configState === 'Working' || node.isToldToChange) return [waitingFor(node.name, 'to finish its change')];
      const running = attempts.find(({ attempt }) => attempt.spec.node === node.name && isRunningAttempt(attempt));
      const isAway = running !== undefined && running.attempt.status.command !== 'pause';
      return isAway ? [waitingFor(node.name, 'to end its in-place attempt')] : [];
    });
    const missing = busy.length > 0 ? busy : await this.#options.mastersMissing(name);
    if (missing.length > 0) return missing;
    // Two drains may have asked at the same moment: the turn is taken without a pause after the look.
    const turn = attempts.find(({ attempt }) => attempt.name === this.#turnOfMasters && isRunningAttempt(attempt));
    const holder = turn?.attempt.spec.node ?? name;
    if (holder !== name) return [waitingFor(holder, 'to end its in-place attempt')];
    this.#turnOfMasters = asking.name;
    return [];
  }

  async #runs(seen: Seen): Promise<void> {
    const orders = seen.secrets.flatMap((secret) => attemptOrder(secret) ?? []);
    for (const { run, object } of this.#world(seen).runs) {
      const { nodes, attempts } = this.#world(seen);
      const { status, start } = nextRunStep({
        run,
        orders,
        nodes,
        attempts: attempts.map(({ attempt }) => attempt),
        now: this.#options.host.clock.now(),
      });
      for (const name of start) {
        const node = nodes.find((each) => each.name === name);
        if (node === undefined) continue;
        await this.#attempt(() => this.#writer.start(node));
        this.#options.onEvent({ kind: 'started', run: run.name, node: name });
      }
      if (isDeepStrictEqual(status, run.status)) continue;
      await this.#attempt(() => this.#writer.runStatus(object, status));
      this.#changed.ring();
    }
  }

  /** The newest attempt of each node, as the Node says it. */
  async #mirror(seen: Seen): Promise<void> {
    const { nodes, attempts } = this.#world(seen);
    for (const node of nodes) {
      const theirs = attempts.map(({ attempt }) => attempt).filter(({ spec }) => spec.node === node.name);
      const newest =
        theirs.find(isRunningAttempt) ?? theirs.toSorted((one, other) => sinceOf(other).localeCompare(sinceOf(one)))[0];
      if (newest === undefined || newest.status.history.length === 0) continue;
      const status = mirrorOf(newest);
      if (isDeepStrictEqual(readInPlaceStatus(node.annotations[inPlaceAnnotations.status]), status)) continue;
      await this.#attempt(() => this.#writer.mirror(node, status));
    }
  }

  async #attempt(act: () => Promise<void>): Promise<boolean> {
    const { signal, mayAct } = this.#options;
    if (!mayAct()) return false;
    const onTrouble = (error: FirstlightError): void => this.trouble(error);
    const isMade = await attemptCall({ signal, mayAct, races, onTrouble }, act);
    if (!isMade) this.#isAgainDue = true;
    return isMade;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#drains[Symbol.asyncDispose]();
  }
}

/** More than an attempt has. */
const stepsMax = 30;

function isRunningAttempt({ status }: InPlaceAttempt): boolean {
  return !isEnd(status.phase);
}

/** The running attempt that claimed the node before this one. */
function rivalOf({ name }: InPlaceAttempt, node: InPlaceNode | undefined, attempts: readonly SeenAttempt[]): string {
  const { claim = '' } = node ?? {};
  if (claim === '' || claim === name) return '';
  return attempts.some(({ attempt }) => attempt.name === claim && isRunningAttempt(attempt)) ? claim : '';
}

function sinceOf({ status }: InPlaceAttempt): string {
  return status.history.at(-1)?.at ?? '';
}

function mirrorOf({ spec, status }: InPlaceAttempt): InPlaceStatus {
  const { phase, failure } = status;
  const message = failure === undefined ? {} : { message: `${failure.code}: ${failure.message}` };
  return { attempt: spec.attemptId, phase, at: status.history.at(-1)?.at ?? '', ...message };
}
