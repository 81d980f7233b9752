// Writes what the controller of in-place attempts decided: attempts, nodes, snapshots, runs, events. Nothing is decided
// here. A write is made only on what was seen (by its version), and counts at once: the watch is a little behind.
import { createHash } from 'node:crypto';
import {
  type AttemptSpec,
  type AttemptStatus,
  attemptKind,
  attemptName,
  type InPlaceAttempt,
  type InPlacePhase,
  type InPlaceStatus,
  inPlaceAnnotations,
  scheduledValue,
  scheduleLabels,
} from '../../contract/in-place.ts';
import { nodeConfigAnnotations } from '../../contract/machine-config-node.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { type KubernetesObject, objectVersion, referenceOf } from '../../kubernetes/object.ts';
import { cordonedAnnotation } from '../../pool-rollout/rollout-node.ts';
import { hasScheduleLabel, type InPlaceNode, inPlaceNode, inPlaceNodeInBrief } from './in-place-node.ts';
import { withoutRestoringTaint, withRestoringTaint } from './merge-node.ts';
import type { AttemptStep } from './next-attempt-step.ts';
import type { RunStatus } from './next-run-step.ts';
import { readSnapshot, snapshotObject, snapshotReference } from './node-snapshot.ts';

export interface InPlaceWriterOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock'>;
  readonly signal: AbortSignal;
}

/** An attempt as it was read, with the object that its version is in. */
export interface SeenAttempt {
  readonly attempt: InPlaceAttempt;
  readonly object: KubernetesObject;
}

type StatusChange = Partial<Omit<AttemptStatus, 'report' | 'isAborted' | 'history'>> & {
  readonly enters?: readonly InPlacePhase[];
  readonly message?: string;
};
type Labels = Readonly<Record<string, string | null>>;

const noScheduleLabels: Labels = Object.fromEntries(scheduleLabels.map((label) => [label, null]));

/** The daemon of the machine writes them anew, from what the machine then has. */
const staleAnnotations: Labels = Object.fromEntries(
  [
    nodeConfigAnnotations.current,
    nodeConfigAnnotations.desired,
    nodeConfigAnnotations.state,
    nodeConfigAnnotations.reason,
    nodeConfigAnnotations.desiredDrain,
    nodeConfigAnnotations.lastAppliedDrain,
    nodeConfigAnnotations.postConfigAction,
    nodeConfigAnnotations.progress,
    nodeConfigAnnotations.drainProgress,
    cordonedAnnotation,
  ].map((name) => [name, null]),
);

export class InPlaceWriter {
  readonly #options: InPlaceWriterOptions;
  /** Objects as the API answered them after a write, until the watch has that version or a newer one. */
  readonly #written = new Map<string, KubernetesObject>();

  constructor(options: InPlaceWriterOptions) {
    this.#options = options;
  }

  /** The objects of a watch, each replaced by what was written on it since. */
  newest(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
    return objects.map((object) => {
      const key = keyOf(object);
      const written = this.#written.get(key);
      if (written === undefined) return object;
      if (written.metadata.uid === object.metadata.uid && objectVersion(written) > objectVersion(object))
        return written;
      this.#written.delete(key);
      return object;
    });
  }

  async create(spec: AttemptSpec): Promise<KubernetesObject> {
    const { client, signal } = this.#options;
    const name = attemptName(spec.node, spec.attemptId);
    return this.#keep(await client.create({ ...attemptKind, metadata: { name }, spec }, { signal }));
  }

  /** One step of an attempt; steps that write nothing are not for this. */
  async carryOut(seen: SeenAttempt, node: InPlaceNode | undefined, step: AttemptStep): Promise<void> {
    const { attempt } = seen;
    switch (step.kind) {
      case 'begin':
        return this.#begin(seen, node);
      case 'advance': {
        const { phases, failure } = step;
        const end =
          failure === undefined ? {} : ({ failure, command: 'abort', message: failureText(failure) } as const);
        return this.#status(seen, { enters: phases, waitsFor: '', ...end });
      }
      case 'fail': {
        const { phase, failure } = step;
        const message = failureText(failure);
        return this.#status(seen, { enters: [phase], failure, command: 'abort', waitsFor: '', message });
      }
      case 'tell-abort':
        return this.#status(seen, { command: 'abort' });
      case 'release':
        return this.#status(seen, { command: 'none', waitsFor: '' });
      case 'begin-restoring': {
        const { phase } = attempt.status;
        return this.#status(seen, {
          enters: phase === 'Booted' ? ['Joining', 'Restoring'] : ['Restoring'],
          waitsFor: '',
        });
      }
      case 'succeed':
        return this.#status(seen, { enters: ['Succeeded'], command: 'none', waitsFor: '' });
      case 'clear':
        return this.#clear(seen, node);
      case 'claim':
      case 'restore':
      case 'give-back':
      case 'let-go':
        if (node !== undefined) await this.#patchNode(node, nodePatch(attempt, node, step));
        return;
      case 'drain':
      case 'rest':
        if (step.waitsFor !== attempt.status.waitsFor) await this.#status(seen, { waitsFor: step.waitsFor });
    }
  }

  async #begin(seen: SeenAttempt, node: InPlaceNode | undefined): Promise<void> {
    const { client, signal, host } = this.#options;
    const { spec } = seen.attempt;
    if (spec.isAdoption || node === undefined) return this.#status(seen, { enters: ['Scheduled'], command: 'none' });
    const snapshot = snapshotObject(seen.object, node, host.clock.now());
    try {
      await client.create(snapshot, { signal });
    } catch (error) {
      // An earlier controller took it, before anything was changed.
      if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
    }
    await this.#status(seen, { enters: ['Scheduled'], command: 'pause', snapshot: snapshot.metadata.name });
  }

  async #clear(seen: SeenAttempt, known: InPlaceNode | undefined): Promise<void> {
    const { isAdoption, node: name } = seen.attempt.spec;
    const node = known ?? (isAdoption ? undefined : await this.nodeNow(name));
    if (node === undefined) {
      // A Node that does not exist has no label. Its kubelet registers it anew, in its new boot.
      const cleared = { version: '', bootId: '', at: this.#now() };
      return this.#status(seen, { command: 'cleared', waitsFor: '', cleared });
    }
    const metadata = { labels: noScheduleLabels, annotations: staleAnnotations };
    const answer = await this.#patchNode(node, { metadata, spec: { taints: withRestoringTaint(node.taints) } });
    const { version, bootId, labels } = inPlaceNode(answer);
    if (hasScheduleLabel(labels)) return;
    await this.#status(seen, { command: 'cleared', waitsFor: '', cleared: { version, bootId, at: this.#now() } });
  }

  async #status({ attempt, object }: SeenAttempt, change: StatusChange): Promise<void> {
    const { client, signal } = this.#options;
    const { enters = [], message = '', ...fields } = change;
    const at = this.#now();
    const entered = enters.map((phase, n) => ({ phase, at, message: n === enters.length - 1 ? message : '' }));
    const last = enters.at(-1);
    const phases = last === undefined ? {} : { phase: last, history: [...attempt.status.history, ...entered] };
    const { resourceVersion } = object.metadata;
    const patch = { metadata: { resourceVersion }, status: { ...fields, ...phases } };
    this.#keep(await client.mergePatch(referenceOf(object), patch, { signal, subresource: 'status' }));
    const type = last === undefined || change.failure === undefined ? 'Normal' : 'Warning';
    for (const each of entered) {
      const text = `attempt ${attempt.spec.attemptId}: ${each.phase}${each.message === '' ? '' : `: ${each.message}`}`;
      await this.event(attempt.spec.node, { reason: 'IPBPhase', message: text, type });
    }
  }

  /** The state of an attempt on its Node, for who reads nodes only. */
  async mirror(node: InPlaceNode, status: InPlaceStatus): Promise<void> {
    const annotations = { [inPlaceAnnotations.status]: JSON.stringify(status) };
    await this.#patchNode(node, { metadata: { annotations } });
  }

  async runStatus(run: KubernetesObject, status: RunStatus): Promise<void> {
    const { client, signal } = this.#options;
    const patch = { metadata: { resourceVersion: run.metadata.resourceVersion }, status };
    this.#keep(await client.mergePatch(referenceOf(run), patch, { signal, subresource: 'status' }));
  }

  /** What a person does with one node: the cordon is there when the label comes. */
  async start(node: InPlaceNode): Promise<void> {
    const [label] = scheduleLabels;
    await this.#patchNode(node, { metadata: { labels: { [label]: scheduledValue } }, spec: { unschedulable: true } });
  }

  async remove(attempt: string): Promise<void> {
    const { client, signal } = this.#options;
    await client.delete({ ...attemptKind, name: attempt }, { signal });
  }

  async snapshotOf({ spec }: InPlaceAttempt) {
    const { client, signal } = this.#options;
    return readSnapshot(await client.find(snapshotReference(spec), { signal }));
  }

  /** Asks the API itself: for a decision that must not rest on a watch that is behind. */
  async nodeNow(name: string): Promise<InPlaceNode | undefined> {
    const { client, signal } = this.#options;
    const found = await client.find({ apiVersion: 'v1', kind: 'Node', name }, { signal });
    return found === undefined ? undefined : inPlaceNode(this.#keep(inPlaceNodeInBrief(found)));
  }

  async #patchNode(node: InPlaceNode, patch: NodePatch): Promise<KubernetesObject> {
    const { client, signal } = this.#options;
    const metadata = { ...patch.metadata, resourceVersion: node.version };
    const reference = { apiVersion: 'v1', kind: 'Node', name: node.name } as const;
    return this.#keep(inPlaceNodeInBrief(await client.mergePatch(reference, { ...patch, metadata }, { signal })));
  }

  /** For people, by `kubectl describe`. One that could not be written is lost, and nothing else. */
  async event(
    node: string,
    said: { readonly reason: string; readonly message: string; readonly type: 'Normal' | 'Warning' },
  ): Promise<void> {
    const { client, signal } = this.#options;
    const time = this.#now();
    const digest = createHash('sha256').update([node, said.reason, said.message, time].join('\n')).digest('hex');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      // Events on objects without a namespace are in `default`; nodes are named by their name there.
      metadata: { name: `${node}.${digest.slice(0, 16)}`, namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: node, uid: node },
      ...said,
      source: { component: 'firstlight-in-place-controller' },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      await client.create(event, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
    }
  }

  #keep(object: KubernetesObject): KubernetesObject {
    this.#written.set(keyOf(object), object);
    return object;
  }

  #now(): string {
    return this.#options.host.clock.now().toISOString();
  }
}

interface NodePatch {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec?: { readonly unschedulable?: boolean | null; readonly taints?: InPlaceNode['taints'] };
}

type NodeStep = Extract<AttemptStep, { kind: 'claim' | 'restore' | 'give-back' | 'let-go' }>;

function nodePatch({ name }: InPlaceAttempt, node: InPlaceNode, step: NodeStep): NodePatch {
  const { current, desired, drainProgress } = nodeConfigAnnotations;
  const { claim } = inPlaceAnnotations;
  switch (step.kind) {
    case 'claim': {
      // What the pool controller asked for and the daemon has not begun is taken back: the attempt comes first.
      const has = node.annotations[current];
      const back = node.isToldToChange && has !== undefined ? { [desired]: has } : {};
      return { metadata: { annotations: { [claim]: name, ...back } } };
    }
    case 'restore':
      return { metadata: { labels: step.labels }, spec: { taints: [...node.taints, ...step.taints] } };
    case 'give-back':
      return {
        metadata: { annotations: { [claim]: null } },
        spec: { unschedulable: null, taints: withoutRestoringTaint(node.taints) },
      };
    case 'let-go':
      return {
        metadata: {
          annotations: { [claim]: null, [drainProgress]: null },
          ...(step.dropsLabels ? { labels: noScheduleLabels } : {}),
        },
        spec: { taints: withoutRestoringTaint(node.taints) },
      };
  }
}

function failureText({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code}: ${message}`;
}

function keyOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
