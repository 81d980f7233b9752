// What every duty works with: the machine, the settings of its pool, and the connections to the API and etcd.
import type { NodeRole } from '../contract/machine-role.ts';
import type { ControlPlaneFacts, PodRouteFacts } from '../contract/node-settings.ts';
import type { Timeline } from '../contract/timeline.ts';
import type { EtcdClients } from '../etcd/client.ts';
import type { Host } from '../host/host.ts';
import type { HttpClient } from '../host/network.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { ClusterView } from '../membership/cluster-view.ts';
import type { Doorbell } from '../workflow/doorbell.ts';
import type { BackgroundTasks } from './background-tasks.ts';

export interface AgentNode {
  readonly name: string;
  /** One per address family; the address that other machines use comes first. */
  readonly addresses: readonly string[];
  readonly role: NodeRole;
}

export interface Agent {
  readonly host: Host;
  readonly node: AgentNode;
  /** `https://api-int…:6443`, the same for every machine. */
  readonly apiServerUrl: string;
  /** Undefined on workers. */
  readonly controlPlane: ControlPlaneFacts | undefined;
  /** Where the machines of the cluster have their addresses. Empty if the settings do not say. */
  readonly machineNetworks: readonly string[];
  /** Undefined if the settings do not say. */
  readonly podRoutes: PodRouteFacts | undefined;
  readonly doorbell: Doorbell;
  readonly background: BackgroundTasks;
  readonly cluster: ClusterView;
  readonly signal: AbortSignal;
  /** The API as this machine; throws while it has no identity yet. */
  readonly api: () => Promise<KubernetesClient>;
  /** The members of etcd as this master; throws while it has no identity yet. */
  readonly etcd: () => Promise<EtcdClients>;
  /** A client that keeps its connections, for repeated requests to the same machine. */
  readonly kept: HttpClient;
  /** Identifies this process in elections. */
  readonly identity: string;
  readonly log: (line: string) => void;
  /** Records how this machine joins the cluster, step by step. */
  readonly timeline: Timeline;
}

export function addressOf({ node }: Pick<Agent, 'node'>): string {
  const [address] = node.addresses;
  if (address === undefined) throw new Error(`${node.name} has no address`);
  return address;
}

/** For duties that only masters have: other machines do not have these facts. */
export function controlPlaneOf({ controlPlane, node }: Pick<Agent, 'controlPlane' | 'node'>): ControlPlaneFacts {
  if (controlPlane === undefined) throw new Error(`${node.name} is no master`);
  return controlPlane;
}
