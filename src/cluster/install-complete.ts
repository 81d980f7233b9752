// When an installation is complete: every expected machine is a Ready node, the control plane of each master has been
// Ready for a while, the release is applied with every operator Available and not Degraded, and the API is ready. The
// pod of a kube-apiserver is Ready when its kubelet gets 200 from /readyz: that checks each server; the request for
// /readyz here checks the load balancer.
import { systemNamespace } from '../contract/cluster-objects.ts';
import type { Inventory } from '../contract/inventory.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { listNodes, notReady } from './cluster-nodes.ts';
import { listOperators, operatorsMissing } from './cluster-operators.ts';

const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
/** A pod that restarts in a loop is Ready from time to time. */
const steadyMs = 30_000;

export interface InstallQuestion {
  readonly client: KubernetesClient;
  readonly inventory: Inventory;
  readonly now: Date;
  readonly signal: AbortSignal;
}

export async function installMissing({ client, inventory, now, signal }: InstallQuestion): Promise<readonly Missing[]> {
  const call = { signal, deadlineMs: 5_000 };
  const namespace = systemNamespace;
  const [ready, nodes, pods, operators] = await Promise.all([
    client.getRaw('/readyz', call),
    listNodes(client, signal),
    client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace }, call),
    listOperators(client, signal),
  ]);
  const named = (role: string): readonly string[] =>
    inventory.machines.filter((machine) => machine.role === role).map(({ name }) => name);
  return [
    ...(ready.status === 200 ? [] : [waitingFor('the API', `answers ${ready.status} to /readyz`)]),
    ...notReady([...named('master'), ...named('worker')], nodes),
    ...named('master').flatMap((master) =>
      components.flatMap((component) => podMissing({ component, master }, pods.items, now)),
    ),
    ...operatorsMissing(operators),
  ];
}

interface ControlPlanePod {
  readonly component: string;
  readonly master: string;
}

function podMissing(
  { component, master }: ControlPlanePod,
  pods: readonly KubernetesObject[],
  now: Date,
): readonly Missing[] {
  const name = `${component}-${master}`;
  const about = { machines: [master] };
  const pod = pods.find(({ metadata }) => metadata.name === name);
  if (pod === undefined) return [waitingFor('there is no pod', name, about)];
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status !== 'True') return [waitingFor(name, 'is not Ready', about)];
  const isSteady = ready.since !== undefined && now.getTime() - ready.since.getTime() >= steadyMs;
  return isSteady ? [] : [waitingFor(name, `has been Ready for less than ${steadyMs / 1000} s`, about)];
}
