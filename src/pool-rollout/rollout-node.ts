// A Node as the roll-out sees it: what its daemon and the controller wrote on it, and whether it can take pods.
import { isLeaving } from '../contract/cluster-objects.ts';
import { inPlaceAnnotations } from '../contract/in-place.ts';
import {
  nodeConfigAnnotations as annotations,
  type NodeConfigState,
  nodeConfigStates,
} from '../contract/machine-config-node.ts';
import { hasCondition } from '../kubernetes/conditions.ts';
import { isReadyNode } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

/** The controller cordoned this node for a change: it is the one to uncordon it. A person's cordon is left alone. */
export const cordonedAnnotation = 'firstlight.io/cordoned-for-config';

export interface RolloutNode {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Empty when it has none. */
  readonly zone: string;
  readonly createdAt: string;
  /** Ready, with disk and network; whether it is cordoned or not. */
  readonly isHealthy: boolean;
  readonly isCordoned: boolean;
  readonly isCordonedByUs: boolean;
  readonly isLeaving: boolean;
  /** An in-place attempt works on it. */
  readonly isClaimed: boolean;
  /** Of the object that this was read from. */
  readonly version: string;
  /** Empty until its daemon has written it. */
  readonly current: string;
  readonly desired: string;
  readonly state: NodeConfigState | undefined;
  readonly reason: string;
  readonly desiredDrain: string;
  readonly lastAppliedDrain: string;
  readonly driftPolicy: string;
  readonly drainProgress: string;
}

export function rolloutNode(node: KubernetesObject): RolloutNode {
  const { name, uid = '', labels = {}, creationTimestamp = '', resourceVersion = '' } = node.metadata;
  const given = node.metadata.annotations ?? {};
  const text = (key: string): string => given[key] ?? '';
  const spec = (node['spec'] ?? {}) as { readonly unschedulable?: boolean };
  return {
    name,
    uid,
    labels,
    zone: labels['topology.kubernetes.io/zone'] ?? '',
    createdAt: creationTimestamp,
    isHealthy: isHealthy(node),
    isCordoned: spec.unschedulable === true,
    isCordonedByUs: text(cordonedAnnotation) !== '',
    isLeaving: isLeaving(node),
    isClaimed: text(inPlaceAnnotations.claim) !== '',
    version: resourceVersion,
    current: text(annotations.current),
    // A node that nobody has asked for anything has what it should have.
    desired: text(annotations.desired) || text(annotations.current),
    state: nodeConfigStates.find((state) => state === text(annotations.state)),
    reason: text(annotations.reason),
    desiredDrain: text(annotations.desiredDrain),
    lastAppliedDrain: text(annotations.lastAppliedDrain),
    driftPolicy: text(annotations.driftPolicy),
    drainProgress: text(annotations.drainProgress),
  };
}

function isHealthy(node: KubernetesObject): boolean {
  return isReadyNode(node) && !hasCondition(node, 'DiskPressure') && !hasCondition(node, 'NetworkUnavailable');
}

/** Only what `rolloutNode` reads: a Node also lists every image of its machine. */
export function nodeInBrief({ apiVersion, kind, metadata, ...node }: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...kept } = metadata;
  const { unschedulable } = (node['spec'] ?? {}) as { readonly unschedulable?: boolean };
  const { conditions } = (node['status'] ?? {}) as { readonly conditions?: unknown };
  return { apiVersion, kind, metadata: kept, spec: { unschedulable }, status: { conditions } };
}

export function isReady({ isHealthy, isCordoned }: RolloutNode): boolean {
  return isHealthy && !isCordoned;
}

/** It has what it was asked for last, which need not be what its pool wants now. */
export function isDone({ current, desired, state }: RolloutNode): boolean {
  return current !== '' && current === desired && state === 'Done';
}

export function isDegraded({ state }: RolloutNode): boolean {
  return state === 'Degraded' || state === 'Unreconcilable';
}

export function isUpdated(node: RolloutNode, target: string): boolean {
  return isDone(node) && node.desired === target;
}

/** It cannot take pods, or it is changing now. One that failed counts as available while it is Ready. */
export function isUnavailable(node: RolloutNode): boolean {
  return node.isClaimed || !isReady(node) || !(isDone(node) || isDegraded(node));
}
