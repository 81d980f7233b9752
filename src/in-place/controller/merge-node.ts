// How labels and taints of a node come back: a merge of three sides, as pure functions. What the snapshot had and the
// Node has lost is put back; what somebody added or changed meanwhile stays; what the kubelet or a controller of
// Kubernetes keeps by itself, and what asked for the attempt, is never written.
import { restoringTaint, scheduleLabels } from '../../contract/in-place.ts';
import type { NodeTaint } from './in-place-node.ts';

export interface NodeMarks {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
}

/** The kubelet writes them at its start, from its machine and its own configuration. */
const kubeletLabels: readonly string[] = [
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/instance-type',
];
const kubeletPrefixes: readonly string[] = ['kubelet.kubernetes.io/', 'node.kubernetes.io/'];
/** The node controllers write them, from what the kubelet reports. */
const controllerTaints: readonly string[] = ['node.kubernetes.io/', 'node.cloudprovider.kubernetes.io/'];

export function isRestoredLabel(label: string): boolean {
  const isAsking = scheduleLabels.some((each) => each === label);
  const isKubelets = kubeletLabels.includes(label) || kubeletPrefixes.some((prefix) => label.startsWith(prefix));
  return !isAsking && !isKubelets;
}

export function isRestoredTaint({ key }: NodeTaint): boolean {
  return key !== restoringTaint.key && !controllerTaints.some((prefix) => key.startsWith(prefix));
}

/** The labels to add; none where the Node has them all, with whatever value. */
export function lostLabels(snapshot: NodeMarks, now: NodeMarks): Readonly<Record<string, string>> {
  const lost = Object.entries(snapshot.labels).filter(([label]) => isRestoredLabel(label) && !(label in now.labels));
  return Object.fromEntries(lost);
}

/** A taint is the same by key and effect, as in Kubernetes: its value may have been changed, and then stays so. */
export function lostTaints(snapshot: NodeMarks, now: NodeMarks): readonly NodeTaint[] {
  return snapshot.taints.filter(
    (taint) => isRestoredTaint(taint) && !now.taints.some((present) => isSameTaint(present, taint)),
  );
}

export function isSameTaint(one: Pick<NodeTaint, 'key' | 'effect'>, other: Pick<NodeTaint, 'key' | 'effect'>): boolean {
  return one.key === other.key && one.effect === other.effect;
}

export function withRestoringTaint(taints: readonly NodeTaint[]): readonly NodeTaint[] {
  return taints.some((taint) => isSameTaint(taint, restoringTaint)) ? taints : [...taints, restoringTaint];
}

export function withoutRestoringTaint(taints: readonly NodeTaint[]): readonly NodeTaint[] {
  return taints.filter((taint) => !isSameTaint(taint, restoringTaint));
}
