// What a workstation sees of the encryption of Secrets: the keys that the cluster wants, and which master has them.
import { loadedEncryptionAnnotation } from '../contract/cluster-objects.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { isReadyNode } from '../kubernetes/node-object.ts';
import { findEncryptionState } from './encryption-state.ts';
import type { ObservedEncryption } from './next-step.ts';

export async function observeEncryption(
  client: KubernetesClient,
  call: ApiCallOptions = {},
): Promise<ObservedEncryption> {
  // The keys first: a report that is read later can only be newer than they are.
  const state = await findEncryptionState(client, call);
  const labelSelector = 'node-role.kubernetes.io/control-plane';
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Node' }, { labelSelector }, call);
  const masters = items.map((node) => ({
    name: node.metadata.name,
    isReady: isReadyNode(node),
    loaded: node.metadata.annotations?.[loadedEncryptionAnnotation],
  }));
  return { state, masters };
}
