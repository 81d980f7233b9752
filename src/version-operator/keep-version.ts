// The loop of the version operator: follows the ClusterVersion, runs pass after pass over the payload, and says in the
// status what came of it. Whatever it needs to know it reads from the cluster: a process that was killed anywhere goes
// on where the objects and the status say.
import { isDeepStrictEqual } from 'node:util';
import { type CapabilityName, clusterVersionReference } from '../contract/cluster-version.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { objectVersion } from '../kubernetes/object.ts';
import type { Operator } from '../operators/operator.ts';
import type { PayloadValues } from '../operators/payload-values.ts';
import type { Digest } from '../workflow/digest.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { pause } from '../workflow/pause.ts';
import { type ApplyContext, announceOperator, applyTask } from './apply-task.ts';
import { observeValues } from './cluster-values.ts';
import { reasonLeftOut, settledCapabilities } from './manifest-filter.ts';
import { type PayloadTask, readPayload } from './payload.ts';
import { preparedTasks } from './prepare-tasks.ts';
import { type PassProgress, runPass } from './run-pass.ts';
import type { TaskFailure } from './task-failure.ts';
import { type OperatorState, paces, taskGraph } from './task-graph.ts';
import {
  type ClusterVersionObject,
  isComplete,
  nextStatus,
  type Release,
  refusalOf,
  type SeenPass,
  shownPass,
  stateOf,
} from './version-status.ts';

export interface KeepVersionOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'files'>;
  /** The root of the release image. */
  readonly payloadRoot: string;
  readonly release: Release;
  readonly versionHash: string;
  readonly operators: readonly Operator[];
  readonly signal: AbortSignal;
  readonly mayAct: () => boolean;
  readonly log: (line: string) => void;
}

/** From one pass to the next when all is well: with the pass itself, drift is put right within 30 s. */
const intervalMs = 20_000;
const followMs = 2_000;
const waitMs = 2_000;
const sayMs = 1_000;
/** While reconciling, what fails for a shorter time is no news: a master restarts, a pod moves. */
const mildMs = 20_000;

/** After failures a sixteenth of the interval, then twice that, and so on. What is on its way is looked at soon. */
function pauseAfter({ failures }: PassProgress, state: OperatorState, failedPasses: number): number {
  if (failedPasses === 0) return intervalMs;
  if (state !== 'Reconciling' && failures.length > 0 && failures.every(({ effect }) => effect === 'wait'))
    return waitMs;
  return failedPasses > 4 ? intervalMs : (intervalMs / 16) * 2 ** (failedPasses - 1);
}

export class VersionKeeper {
  readonly #options: KeepVersionOptions;
  readonly #changed = new Doorbell();
  #version: ClusterVersionObject | undefined;
  #prepared: { readonly values: PayloadValues; readonly tasks: readonly PayloadTask[] } | undefined;
  #memory = new Map<string, Digest>();
  #running: AbortController | undefined;
  #pass: SeenPass | undefined;
  #waitingFor: readonly string[] = [];
  #passes = 0;
  #failedPasses = 0;
  /** Source and reason of a failure → since when it is seen. */
  #failingSince = new Map<string, number>();
  #lastLine = '';

  constructor(options: KeepVersionOptions) {
    this.#options = options;
  }

  /** Undefined while the ClusterVersion has not been seen. */
  capabilities(): readonly CapabilityName[] | undefined {
    return this.#version === undefined ? undefined : capabilitiesOf(this.#version).enabled;
  }

  /** Undefined until a pass has found all of them. */
  values(): PayloadValues | undefined {
    return this.#prepared?.values;
  }

  /** Ends only by throwing the reason of the signal. */
  async follow(): Promise<never> {
    const { client, host, signal } = this.#options;
    for (;;) {
      await this.#attempt(async () => {
        const seen = await client.find<ClusterVersionObject>(clusterVersionReference, { signal });
        if (seen === undefined) this.#say('there is no ClusterVersion named version');
        else this.#see(seen);
      });
      await host.clock.sleep(followMs, signal);
    }
  }

  /** Ends only by throwing the reason of the signal. */
  async passes(): Promise<never> {
    const { host, signal, mayAct } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const { rings } = this.#changed;
      const version = this.#version;
      let ms = waitMs;
      if (version !== undefined && mayAct()) {
        await this.#attempt(async () => {
          ms = await this.#round(version);
        });
      }
      const wake = (end: AbortSignal): Promise<void> => this.#changed.rung(rings, end);
      await pause(host.clock, { ms, signal, wake });
    }
  }

  /** What a person wrote counts at once: a pass that follows the old spec ends. */
  #see(seen: ClusterVersionObject): void {
    const before = this.#version;
    if (before?.metadata.uid === seen.metadata.uid && objectVersion(before ?? seen) > objectVersion(seen)) return;
    this.#version = seen;
    const isSame =
      before?.metadata.uid === seen.metadata.uid && before?.metadata['generation'] === seen.metadata['generation'];
    if (isSame) return;
    this.#running?.abort(new Error('the ClusterVersion has changed'));
    this.#changed.ring();
  }

  /** One look, and a pass if nothing is missing for it. Returns how long to wait before the next. */
  async #round(version: ClusterVersionObject): Promise<number> {
    const { client, release, signal } = this.#options;
    const { values, missing } = await observeValues(client, { version, release }, signal);
    this.#waitingFor = missing;
    if (values === undefined) {
      this.#say(`waiting for ${missing.join(', ')}`);
      await this.#report(stateOf(version, release));
      return waitMs;
    }
    const tasks = (await this.#tasks(values)).filter((task) => isIncluded(task, version));
    const state = stateOf(version, release);
    const running = new AbortController();
    this.#running = running;
    try {
      // Before the first write: what is enabled now must still be known after a crash.
      await this.#report(state);
      const progress = await this.#run(tasks, { state, uid: version.metadata.uid ?? '', running });
      return await this.#settle(progress, state);
    } catch (error) {
      signal.throwIfAborted();
      if (!running.signal.aborted) throw error;
      this.#say('the ClusterVersion has changed: the pass begins anew');
      return 0;
    } finally {
      this.#running = undefined;
    }
  }

  /** The payload is not kept in memory beside what was made of it: it is read again when a value changes. */
  async #tasks(values: PayloadValues): Promise<readonly PayloadTask[]> {
    if (this.#prepared !== undefined && isDeepStrictEqual(this.#prepared.values, values)) return this.#prepared.tasks;
    const { host, payloadRoot, operators } = this.#options;
    const tasks = preparedTasks(await readPayload(host.files, payloadRoot), { operators, values });
    this.#prepared = { values, tasks };
    this.#memory = new Map();
    return tasks;
  }

  async #run(
    tasks: readonly PayloadTask[],
    { state, uid, running }: { readonly state: OperatorState; readonly uid: string; readonly running: AbortController },
  ): Promise<PassProgress> {
    const { client, host, mayAct, log } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, running.signal]);
    const contextOf = (signal: AbortSignal): ApplyContext => {
      return { client, host, state, ownerUid: uid, memory: this.#memory, signal, mayAct, log };
    };
    const last = this.#pass;
    const reporting = this.#reportWhile(state, AbortSignal.any([signal, over.signal]));
    try {
      return await runPass({
        graph: taskGraph(tasks, { state, attempt: this.#passes }),
        pace: paces[state],
        clock: host.clock,
        announce: (task, passSignal) => announceOperator(contextOf(passSignal), task),
        apply: (task, passSignal) => applyTask(contextOf(passSignal), task),
        signal,
        onProgress: (progress) => {
          this.#pass = shownPass(last, { ...this.#mild(progress, state), isOver: false });
        },
      });
    } finally {
      over.abort(new Error('the pass is over'));
      await reporting;
    }
  }

  /** Ends with the signal, and never by throwing. */
  async #reportWhile(state: OperatorState, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#options.host.clock.sleep(sayMs, signal);
        await this.#attempt(() => this.#report(state));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #settle(progress: PassProgress, state: OperatorState): Promise<number> {
    const pass = { ...this.#mild(progress, state), isOver: true };
    this.#forgetCured(progress.failures);
    this.#pass = pass;
    this.#passes += 1;
    this.#failedPasses = isComplete({ pass }) ? 0 : this.#failedPasses + 1;
    const what = `${state}: ${pass.done} of ${pass.total} done`;
    const failures = pass.failures.map(({ object, message }) => `\n  ${object}: ${message}`).sort();
    this.#say(`${what}${failures.join('')}`);
    await this.#report(state);
    return pauseAfter(pass, state, this.#failedPasses);
  }

  #mild(progress: PassProgress, state: OperatorState): PassProgress {
    const nowMs = this.#options.host.clock.monotonicMs();
    const failures = progress.failures.map((failure): TaskFailure => {
      const key = `${failure.source} ${failure.reason}`;
      const sinceMs = this.#failingSince.get(key) ?? nowMs;
      this.#failingSince.set(key, sinceMs);
      const isMild = state === 'Reconciling' && !failure.isFinal && nowMs - sinceMs < mildMs;
      return isMild && failure.effect === 'fail' ? { ...failure, effect: 'wait' } : failure;
    });
    return { ...progress, failures };
  }

  #forgetCured(failures: readonly TaskFailure[]): void {
    const keys = new Set(failures.map(({ source, reason }) => `${source} ${reason}`));
    for (const key of this.#failingSince.keys()) if (!keys.has(key)) this.#failingSince.delete(key);
  }

  async #report(state: OperatorState): Promise<void> {
    const { client, host, release, versionHash, signal, mayAct } = this.#options;
    const version = this.#version;
    if (version === undefined || !mayAct()) return;
    const status = nextStatus(version, {
      release,
      versionHash,
      state,
      pass: this.#pass,
      waitingFor: this.#waitingFor,
      refusal: refusalOf(version.spec ?? {}, release),
      capabilities: capabilitiesOf(version),
      now: host.clock.now(),
    });
    const before: Readonly<Record<string, unknown>> = { ...version.status };
    if (Object.entries(status).every(([key, value]) => isDeepStrictEqual(value, before[key]))) return;
    const options = { signal, subresource: 'status' } as const;
    this.#see(await client.mergePatch<ClusterVersionObject>(clusterVersionReference, { status }, options));
  }

  /** What the API refuses is said and tried again later. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      this.#say(error.message);
    }
  }

  /** What is said again and again is said once. */
  #say(line: string): void {
    if (line !== this.#lastLine) this.#options.log(line);
    this.#lastLine = line;
  }
}

function capabilitiesOf({ spec, status }: ClusterVersionObject) {
  return settledCapabilities(spec?.capabilities, status?.capabilities?.enabledCapabilities ?? []);
}

function isIncluded(task: PayloadTask, version: ClusterVersionObject): boolean {
  if (!('object' in task)) return true;
  const { enabled } = capabilitiesOf(version);
  return reasonLeftOut(task.object, { capabilities: enabled, overrides: version.spec?.overrides ?? [] }) === undefined;
}
