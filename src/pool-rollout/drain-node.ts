// Empties one node by the eviction API and answers who asked. Pods and budgets are watched: a pod that went, or a
// budget that allows one more, is seen at once. What stands in the way is written on the Node, for people.
import { nodeConfigAnnotations as annotations, type DrainProgress } from '../contract/machine-config-node.ts';
import { type Missing, missingLine } from '../contract/missing.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchTogether } from '../kubernetes/watch.ts';
import { type DrainPlan, drainPlan, type PodReference, podText } from './drain-plan.ts';

export interface DrainOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly node: string;
  /** The annotations that say on the Node that it is empty. */
  readonly answer: Readonly<Record<string, string>>;
  /** When it was first asked for, by an earlier controller; undefined when it begins now. */
  readonly since: string | undefined;
  /** Its pods have nowhere else to go: they stay. */
  readonly isOnlyNode: boolean;
  /** Its kubelet is silent: pods that were told to go cannot end before the machine boots again. False where unsaid. */
  readonly isSilent?: () => boolean;
  /** What is still missing before this machine may go down; asked when its pods are gone. */
  readonly missing: () => Promise<readonly Missing[]>;
  readonly signal: AbortSignal;
  readonly mayAct: () => boolean;
  readonly onTrouble: (error: FirstlightError) => void;
}

/** Without a change it looks again: an API server may allow what it refused, and a master may have come back. */
const tickMs = 2_000;
/** A refused eviction is asked for again after this long, or when its budget allows one. */
const refusedMs = 5_000;
/** A Node is written at most this often for its progress. */
const reportMs = 1_000;
const leftShown = 20;

/** Returns when the node is empty and its machine may go down. */
export async function drainNode(options: DrainOptions): Promise<void> {
  const { client, host, node, signal, onTrouble } = options;
  const selection = { fieldSelector: `spec.nodeName=${node}` };
  const sources = {
    pods: { kind: { apiVersion: 'v1', kind: 'Pod' }, selection, keep: podInBrief },
    budgets: { kind: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' } },
  };
  const drain = new Drain(options);
  for await (const { pods, budgets } of watchTogether({ client, host, signal, onTrouble, tickMs }, sources)) {
    if (options.mayAct() && (await drain.pass(drainPlan(options.isOnlyNode ? [] : pods, budgets)))) return;
  }
}

function podInBrief({ apiVersion, kind, metadata, ...pod }: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...kept } = metadata;
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string };
  return { apiVersion, kind, metadata: kept, status: { phase } };
}

type Blocked = DrainProgress['blocked'][number];

interface DrainReport {
  readonly left: readonly PodReference[];
  readonly blocked: readonly Blocked[];
  readonly waitsFor?: string;
}

class Drain {
  readonly #options: DrainOptions;
  readonly #since: string;
  readonly #refused = new Map<string, { readonly atMs: number; readonly reason: string }>();
  #reported = '';
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#since = options.since ?? options.host.clock.now().toISOString();
  }

  /** True when the node is empty and says so. */
  async pass(plan: DrainPlan): Promise<boolean> {
    const ending = this.#options.isSilent?.() === true ? [] : plan.ending;
    const left = [...plan.evict, ...plan.blocked.map(({ pod }) => pod), ...ending];
    if (left.length > 0) {
      await this.#evict(plan);
      await this.#report({ left, blocked: this.#blocked(plan) });
      return false;
    }
    const missing = await this.#options.missing();
    if (missing.length === 0) {
      await this.#annotate({ ...this.#options.answer, [annotations.drainProgress]: null });
      return true;
    }
    await this.#report({ left: [], blocked: [], waitsFor: missingLine(missing) });
    return false;
  }

  async #evict({ evict, blocked }: DrainPlan): Promise<void> {
    const nowMs = this.#options.host.clock.monotonicMs();
    // A budget may allow the eviction of a pod that is not healthy although it allows no other: the API is asked.
    const due = blocked.filter(({ pod }) => nowMs - (this.#refused.get(pod.uid)?.atMs ?? -refusedMs) >= refusedMs);
    await Promise.all([...evict, ...due.map(({ pod }) => pod)].map((pod) => this.#evictOne(pod)));
  }

  async #evictOne(pod: PodReference): Promise<void> {
    const { client, host, signal, mayAct, onTrouble } = this.#options;
    if (!mayAct()) return;
    try {
      await client.evict(pod, { signal });
      this.#refused.delete(pod.uid);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      const { reason } = error.details as { readonly reason?: string };
      this.#refused.set(pod.uid, { atMs: host.clock.monotonicMs(), reason: reason ?? error.message });
      if (reason === undefined) onTrouble(error);
    }
  }

  #blocked({ evict, blocked }: DrainPlan): readonly Blocked[] {
    const refused = evict.flatMap((pod): Blocked[] => {
      const refusal = this.#refused.get(pod.uid);
      return refusal === undefined ? [] : [{ pod: podText(pod), reason: refusal.reason }];
    });
    return [...blocked.map(({ pod, budget, reason }) => ({ pod: podText(pod), budget, reason })), ...refused];
  }

  async #report({ left, blocked, waitsFor }: DrainReport): Promise<void> {
    const nowMs = this.#options.host.clock.monotonicMs();
    const progress: DrainProgress = {
      since: this.#since,
      left: left.slice(0, leftShown).map(podText),
      leftCount: left.length,
      blocked: [...blocked],
      ...(waitsFor === undefined ? {} : { waitsFor }),
    };
    const text = JSON.stringify(progress);
    if (text === this.#reported || nowMs - this.#reportedMs < reportMs) return;
    await this.#annotate({ [annotations.drainProgress]: text });
    this.#reported = text;
    this.#reportedMs = nowMs;
  }

  async #annotate(changes: Readonly<Record<string, string | null>>): Promise<void> {
    const { client, node: name, signal } = this.#options;
    await client.mergePatch(
      { apiVersion: 'v1', kind: 'Node', name },
      { metadata: { annotations: changes } },
      { signal },
    );
  }
}
