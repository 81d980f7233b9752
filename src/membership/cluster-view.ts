// What a machine sees of the cluster, kept up to date by watches: the nodes, the inventory and, on a control-plane
// machine, the other ConfigMaps of kube-system: the etcd endpoints, the records of the handoff and of joins, and the
// progress of the bootstrap.
import { readMirroredProgress } from '../contract/bootstrap-progress.ts';
import {
  etcdEndpoints,
  handoffConfigMap,
  inventoryConfigMap,
  inventoryKey,
  isLeaving,
  nodeOfJoinRecord,
  progressConfigMap,
  systemNamespace,
} from '../contract/cluster-objects.ts';
import { type Inventory, readInventory } from '../contract/inventory.ts';
import type { NodeRole } from '../contract/machine-role.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { internalAddressesOf, podRangesOf } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchTogether } from '../kubernetes/watch.ts';

export class ClusterView {
  #nodes: readonly KubernetesObject[] | undefined;
  #configMaps: readonly KubernetesObject[] = [];
  #digest = '';

  /** Undefined until they have been listed once. */
  get nodes(): readonly KubernetesObject[] | undefined {
    return this.#nodes;
  }

  /** The ConfigMaps of kube-system that this program reads and this machine may read. */
  get configMaps(): readonly KubernetesObject[] {
    return this.#configMaps;
  }

  /** True when something that this program reads has changed; nodes report many other changes. */
  put(seen: {
    readonly nodes: readonly KubernetesObject[];
    readonly configMaps?: readonly KubernetesObject[];
  }): boolean {
    this.#nodes = seen.nodes;
    this.#configMaps = (seen.configMaps ?? []).filter(isRead);
    const digest = JSON.stringify([
      this.#nodes.map((node) => [node.metadata.name, podRangesOf(node), internalAddressesOf(node), isLeaving(node)]),
      this.#configMaps.map((configMap) => [configMap.metadata.name, changeOf(configMap)]),
    ]);
    const isChanged = digest !== this.#digest;
    this.#digest = digest;
    return isChanged;
  }
}

const readConfigMaps = new Set<string>([
  inventoryConfigMap.name,
  etcdEndpoints.name,
  handoffConfigMap.name,
  progressConfigMap.name,
]);

/** Of the progress of the bootstrap, which changes several times a second, only its end concerns an agent. */
function changeOf({ metadata, data }: KubernetesObject): unknown {
  return metadata.name === progressConfigMap.name ? readMirroredProgress({ data })?.isComplete : data;
}

function isRead({ metadata }: KubernetesObject): boolean {
  return readConfigMaps.has(metadata.name) || nodeOfJoinRecord(metadata.name) !== undefined;
}

export interface FollowClusterOptions {
  readonly client: KubernetesClient;
  readonly host: Host;
  readonly role: NodeRole;
  readonly view: ClusterView;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
  /** Called with every state, also when nothing that this program reads has changed. */
  readonly onSeen?: (nodes: readonly KubernetesObject[]) => void;
}

/** Ends only by throwing. */
export async function followCluster(options: FollowClusterOptions): Promise<void> {
  const { client, host, role, view, signal, onChange, onSeen } = options;
  const watching = { client, host, signal };
  const nodes = { kind: { apiVersion: 'v1', kind: 'Node' } };
  // A worker may read the inventory alone, by its name.
  const named = role === 'master' ? {} : { fieldSelector: `metadata.name=${inventoryConfigMap.name}` };
  const configMaps = {
    kind: { apiVersion: 'v1', kind: 'ConfigMap' },
    selection: { namespace: systemNamespace, ...named },
  };
  for await (const state of watchTogether(watching, { nodes, configMaps })) {
    if (view.put(state)) onChange();
    onSeen?.(state.nodes);
  }
}

/** From the ConfigMap; undefined when it does not exist or cannot be read. */
export function inventoryIn(configMaps: readonly KubernetesObject[]): Inventory | undefined {
  const { name, namespace } = inventoryConfigMap;
  const found = configMaps.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (found === undefined) return undefined;
  if (!inventories.has(found)) inventories.set(found, readInventory(textIn(found)));
  return inventories.get(found);
}

/** Parsed once per object: several duties read it at every run. */
const inventories = new WeakMap<KubernetesObject, Inventory | undefined>();

function textIn({ data }: KubernetesObject): string | undefined {
  return (data as Readonly<Record<string, string>> | undefined)?.[inventoryKey];
}
