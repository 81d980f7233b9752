// Which pods of a node have to go before its machine may change, and which disruption budget stands in the way of each.
// A pure function of pods and budgets as the API has them. The API decides about every eviction: a budget is named
// here so that a person knows whom to ask.
import { z } from 'zod';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { selects } from '../machine-config/label-selector.ts';
import { type LabelSelector, labelSelectorSchema } from '../machine-config/machine-config.ts';

export interface PodReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface DrainPlan {
  /** To be evicted now. */
  readonly evict: readonly PodReference[];
  /** A budget allows no further eviction now. */
  readonly blocked: readonly { readonly pod: PodReference; readonly budget: string; readonly reason: string }[];
  /** Asked to go, and still there. */
  readonly ending: readonly PodReference[];
}

const podSchema = z.object({
  status: z.object({ phase: z.string().nullish() }).nullish(),
});
const owners = z.array(z.object({ kind: z.string(), controller: z.boolean().nullish() })).nullish();

const budgetSchema = z.object({
  spec: z.object({ selector: labelSelectorSchema.nullish() }),
  status: z
    .object({
      disruptionsAllowed: z.int().nullish(),
      currentHealthy: z.int().nullish(),
      desiredHealthy: z.int().nullish(),
    })
    .nullish(),
});

export function drainPlan(pods: readonly KubernetesObject[], budgets: readonly KubernetesObject[]): DrainPlan {
  const leaving = pods.filter((pod) => hasToGo(pod));
  const ending = leaving.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const others = leaving.filter((pod) => !ending.includes(pod));
  const judged = others.map((pod) => ({ pod: podReference(pod), held: exhaustedBudget(pod, budgets) }));
  return {
    evict: judged.filter(({ held }) => held === undefined).map(({ pod }) => pod),
    blocked: judged.flatMap(({ pod, held }) => (held === undefined ? [] : [{ pod, ...held }])),
    ending: ending.map(podReference),
  };
}

export function podText({ namespace, name }: PodReference): string {
  return `${namespace}/${name}`;
}

function podReference({ metadata }: KubernetesObject): PodReference {
  return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '' };
}

/** Not a pod of the kubelet's own folder, not one that its DaemonSet would put there again, not one that has ended. */
function hasToGo(pod: KubernetesObject): boolean {
  const { annotations = {}, ownerReferences } = pod.metadata;
  if ('kubernetes.io/config.mirror' in annotations) return false;
  const controller = owners.safeParse(ownerReferences).data?.find((owner) => owner.controller === true);
  if (controller?.kind === 'DaemonSet') return false;
  const phase = podSchema.safeParse(pod).data?.status?.phase ?? '';
  return phase !== 'Succeeded' && phase !== 'Failed';
}

function exhaustedBudget(
  pod: KubernetesObject,
  budgets: readonly KubernetesObject[],
): { readonly budget: string; readonly reason: string } | undefined {
  for (const { metadata, ...object } of budgets) {
    if (metadata.namespace !== pod.metadata.namespace) continue;
    const read = budgetSchema.safeParse(object).data;
    if (read === undefined || !matches(read.spec.selector, pod)) continue;
    if ((read.status?.disruptionsAllowed ?? 0) > 0) continue;
    const { desiredHealthy = 0, currentHealthy = 0 } = read.status ?? {};
    const reason = `needs ${desiredHealthy ?? 0} healthy pods and has ${currentHealthy ?? 0}`;
    return { budget: `${metadata.namespace}/${metadata.name}`, reason };
  }
  return undefined;
}

/** The empty selector of a budget selects every pod of its namespace; a budget without one selects none. */
function matches(selector: LabelSelector | null | undefined, { metadata }: KubernetesObject): boolean {
  if (selector === undefined || selector === null) return false;
  const isEmpty = Object.keys(selector.matchLabels).length + selector.matchExpressions.length === 0;
  return isEmpty || selects(selector, metadata.labels ?? {});
}
