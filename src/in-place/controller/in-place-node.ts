// A Node as the controller of in-place attempts sees it: who asked for what on it, and which boot its kubelet reports.
import { z } from 'zod';
import { inPlaceAnnotations, scheduledValue, scheduleLabels } from '../../contract/in-place.ts';
import {
  nodeConfigAnnotations as annotations,
  type NodeConfigState,
  nodeConfigStates,
} from '../../contract/machine-config-node.ts';
import { conditionOf } from '../../kubernetes/conditions.ts';
import { bootIdOf, isReadyNode, isSilentNode } from '../../kubernetes/node-object.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';

const taintSchema = z.object({
  key: z.string(),
  value: z.string().optional(),
  effect: z.string(),
  timeAdded: z.string().optional(),
});
export type NodeTaint = z.infer<typeof taintSchema>;

const specSchema = z.object({ unschedulable: z.boolean().nullish(), taints: z.array(taintSchema).nullish() });

export interface InPlaceNode {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  readonly isMaster: boolean;
  readonly isReady: boolean;
  /** What its condition Ready says while it is not Ready: of the kubelet, or of the node controller about it. */
  readonly notReady: string;
  /** Its kubelet has not reported for so long that nobody knows whether it runs. */
  readonly isSilent: boolean;
  readonly isCordoned: boolean;
  /** One of the labels that ask for an attempt is there. */
  readonly isScheduled: boolean;
  /** The name of the attempt that has it; empty when none has. */
  readonly claim: string;
  /** As its kubelet reported last; empty before its first report. */
  readonly bootId: string;
  /** Of the daemon of machine configuration. */
  readonly configState: NodeConfigState | undefined;
  /** It was told to take another config, and nothing says that it failed. */
  readonly isToldToChange: boolean;
}

export function inPlaceNode(node: KubernetesObject): InPlaceNode {
  const { name, uid = '', labels = {}, annotations: given = {}, resourceVersion = '' } = node.metadata;
  const spec = specSchema.safeParse(node['spec'] ?? {}).data;
  const configState = nodeConfigStates.find((state) => state === given[annotations.state]);
  const current = given[annotations.current] ?? '';
  const desired = given[annotations.desired] ?? current;
  const isReady = isReadyNode(node);
  return {
    name,
    uid,
    version: resourceVersion,
    labels,
    annotations: given,
    taints: spec?.taints ?? [],
    isMaster: 'node-role.kubernetes.io/master' in labels,
    isReady,
    notReady: isReady ? '' : (conditionOf(node, 'Ready')?.message ?? ''),
    isSilent: isSilentNode(node),
    isCordoned: spec?.unschedulable === true,
    isScheduled: hasScheduleLabel(labels),
    claim: given[inPlaceAnnotations.claim] ?? '',
    bootId: bootIdOf(node) ?? '',
    configState,
    isToldToChange: current !== desired && configState !== 'Degraded' && configState !== 'Unreconcilable',
  };
}

export function hasScheduleLabel(labels: Readonly<Record<string, string>>): boolean {
  return scheduleLabels.some((label) => labels[label] === scheduledValue);
}

/** Only what `inPlaceNode` reads: a Node also lists every image of its machine. */
export function inPlaceNodeInBrief({ apiVersion, kind, metadata, ...node }: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...kept } = metadata;
  const { unschedulable, taints } = (node['spec'] ?? {}) as { readonly unschedulable?: boolean; taints?: unknown };
  const { conditions, nodeInfo } = (node['status'] ?? {}) as { readonly conditions?: unknown; nodeInfo?: unknown };
  return { apiVersion, kind, metadata: kept, spec: { unschedulable, taints }, status: { conditions, nodeInfo } };
}
