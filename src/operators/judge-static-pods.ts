// How a component of the control plane is, from the pods that kubelets mirror into the API: one on each master, written
// there by the agent of the machine. Nothing is applied for these operators; they only tell what they see.
import { z } from 'zod';
import { isLeaving, systemNamespace } from '../contract/cluster-objects.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import { isReadyNode } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OperatorHealth, OperatorSight, Sighting, Verdict } from './operator.ts';
import { patienceMs, podTrouble } from './pod-trouble.ts';

export const masterSelector = 'node-role.kubernetes.io/control-plane';

export function staticPodSightings(component: string): readonly Sighting[] {
  return [
    { apiVersion: 'v1', kind: 'Node', labelSelector: masterSelector },
    { apiVersion: 'v1', kind: 'Pod', namespace: systemNamespace, labelSelector: `component=${component}` },
  ];
}

export interface StaticPodRule {
  readonly component: string;
  /** How many of so many masters must have a Ready pod for the component to serve. */
  readonly enough: (masters: number) => number;
}

interface MasterPod {
  readonly node: string;
  readonly image: string | undefined;
  readonly trouble: { readonly reason: string; readonly sentence: string; readonly isStuck: boolean } | undefined;
}

export function judgeStaticPods(seen: OperatorSight, rule: StaticPodRule): OperatorHealth {
  const pods = mastersOf(seen).map((node) => masterPod(seen, rule.component, node));
  const troubled = pods.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble]));
  const moving = troubled.filter(({ isStuck }) => !isStuck);
  const others = differentImages(pods);
  return {
    available: availability(rule, pods),
    progressing:
      moving.length === 0 && others === undefined
        ? { isSo: false, reason: 'AsExpected', message: 'every master runs the same, and nothing is starting' }
        : {
            isSo: true,
            reason: others === undefined ? 'Starting' : 'Changing',
            message: [...moving.map(({ sentence }) => sentence), ...(others === undefined ? [] : [others])].join('; '),
          },
    degraded: degradation(troubled.filter(({ isStuck }) => isStuck)),
    versions: { operator: seen.version, [rule.component]: versionOf(pods, seen.version) },
  };
}

/** The masters of the cluster, without one that is on its way out. */
export function mastersOf(seen: OperatorSight): readonly KubernetesObject[] {
  return seen
    .objects('Node')
    .filter(({ metadata }) => metadata.labels?.[masterSelector] !== undefined)
    .filter((node) => !isLeaving(node))
    .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

const podSpec = z.object({ containers: z.array(z.object({ image: z.string() })).min(1) });

function masterPod(seen: OperatorSight, component: string, node: KubernetesObject): MasterPod {
  const master = node.metadata.name;
  const name = `${component}-${master}`;
  const pod = seen
    .objects('Pod')
    .find(({ metadata }) => metadata.name === name && metadata.namespace === systemNamespace);
  if (pod === undefined) {
    const ageMs = seen.now.getTime() - Date.parse(node.metadata.creationTimestamp ?? seen.now.toISOString());
    const sentence = `there is no pod ${name}: the agent of ${master} has not written it, or its kubelet does not report it`;
    return { node: master, image: undefined, trouble: { reason: 'NoPod', sentence, isStuck: ageMs > patienceMs } };
  }
  const trouble = podTrouble(pod, seen.now);
  return {
    node: master,
    image: podSpec.safeParse(pod['spec']).data?.containers[0]?.image,
    trouble: trouble && { ...trouble, sentence: `${trouble.sentence}${nodeWords(node)}` },
  };
}

/** A pod of a machine that does not report is not Ready because of that. */
function nodeWords(node: KubernetesObject): string {
  if (isReadyNode(node)) return '';
  const said = conditionOf(node, 'Ready')?.message;
  return ` (node ${node.metadata.name} is not Ready${said ? `: ${said}` : ''})`;
}

function availability({ component, enough }: StaticPodRule, pods: readonly MasterPod[]): Verdict {
  const ready = pods.filter(({ trouble }) => trouble === undefined);
  const counted = `${component} is Ready on ${ready.length} of ${pods.length} masters`;
  if (pods.length === 0) return { isSo: false, reason: 'NoMasters', message: 'no master is a node yet' };
  if (ready.length >= enough(pods.length)) return { isSo: true, reason: 'AsExpected', message: counted };
  const why = pods.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble.sentence]));
  return { isSo: false, reason: 'TooFewReady', message: `${counted}: ${why.join('; ')}` };
}

function degradation(stuck: readonly { readonly reason: string; readonly sentence: string }[]): Verdict {
  const [first] = stuck;
  if (first === undefined) return { isSo: false, reason: 'AsExpected', message: 'no pod of a master is stuck' };
  return { isSo: true, reason: first.reason, message: stuck.map(({ sentence }) => sentence).join('; ') };
}

/** While masters are changed one after the other, some run another image than the others. */
function differentImages(pods: readonly MasterPod[]): string | undefined {
  const images = Map.groupBy(pods, ({ image }) => image);
  images.delete(undefined);
  if (images.size < 2) return undefined;
  const groups = [...images].map(([image, same]) => `${same.map(({ node }) => node).join(', ')} ${image ?? ''}`);
  return `masters run different images: ${groups.join('; ')}`;
}

/** The tag of the image where it has one. Images of a release have digests: then it is the version of the release. */
function versionOf(pods: readonly MasterPod[], version: string): string {
  const tags = pods.map(({ image = '' }) => /:v?([0-9][^@:/]*)$/.exec(image.replace(/@.*$/, ''))?.[1]);
  return tags.find((tag) => tag !== undefined) ?? version;
}
