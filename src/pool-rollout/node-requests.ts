// What daemons ask of the controller about their nodes, and what is to be done for each next. A pure function: an
// answered request is done, and a request that changes is a new one.
import { isDrainUnanswered } from './next-nodes.ts';
import type { RolloutNode } from './rollout-node.ts';

export type NodeRequest =
  /** No new pods. Also where somebody uncordoned the node in the middle of its drain. */
  | { readonly kind: 'cordon'; readonly node: string }
  | { readonly kind: 'drain'; readonly node: string; readonly request: string }
  /** `isOurs`: the controller cordoned it, so it is the one to let pods in again. */
  | { readonly kind: 'uncordon'; readonly node: string; readonly request: string; readonly isOurs: boolean };

export type DrainRequest = Extract<NodeRequest, { readonly kind: 'drain' }>;

/** Nodes that an in-place attempt has are its controller's: it drains them itself, and gives them back. */
export function nodeRequests(nodes: readonly RolloutNode[]): readonly NodeRequest[] {
  return nodes.flatMap((node): NodeRequest[] => {
    const { name, desiredDrain: request, lastAppliedDrain, isCordoned, isCordonedByUs: isOurs } = node;
    if (node.isClaimed) return [];
    if (isDrainUnanswered(node))
      return [isCordoned ? { kind: 'drain', node: name, request } : { kind: 'cordon', node: name }];
    if (request.startsWith('uncordon-') && request !== lastAppliedDrain) {
      return [{ kind: 'uncordon', node: name, request, isOurs }];
    }
    return [];
  });
}
