// Reads Node objects: pod ranges, addresses, readiness.
import { z } from 'zod';
import { conditionOf, hasCondition } from './conditions.ts';
import type { KubernetesObject } from './object.ts';

const spec = z.object({ podCIDRs: z.array(z.string()).nullish() }).nullish();
const status = z
  .object({
    addresses: z.array(z.object({ type: z.string(), address: z.string() })).nullish(),
    nodeInfo: z.object({ bootID: z.string() }).partial().nullish(),
  })
  .nullish();

/** One per address family; empty until the controller manager has given them. */
export function podRangesOf(node: KubernetesObject): readonly string[] {
  return spec.safeParse(node['spec']).data?.podCIDRs ?? [];
}

/** The addresses by which the other machines of the cluster reach it. */
export function internalAddressesOf(node: KubernetesObject): readonly string[] {
  const addresses = status.safeParse(node['status']).data?.addresses ?? [];
  return addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
}

export function isReadyNode(node: KubernetesObject): boolean {
  return hasCondition(node, 'Ready');
}

/** Its kubelet has not reported for so long that the node controller does not know its state any more. */
export function isSilentNode(node: KubernetesObject): boolean {
  return conditionOf(node, 'Ready')?.status === 'Unknown';
}

/** The boot of the machine that its kubelet has reported. */
export function bootIdOf(node: KubernetesObject): string | undefined {
  return status.safeParse(node['status']).data?.nodeInfo?.bootID;
}
