// Every duty of a machine, in the order in which they can be settled on a new one: read it top to bottom and you know how
// a machine becomes part of the cluster.
import { approver } from './duties/approver.ts';
import { clusterView } from './duties/cluster-view.ts';
import { configServer } from './duties/config-server.ts';
import { controlPlaneDuty } from './duties/control-plane.ts';
import { credentials } from './duties/credentials.ts';
import { etcdMember } from './duties/etcd-member.ts';
import { keys } from './duties/keys.ts';
import { kubelet } from './duties/kubelet.ts';
import { kubeProxy } from './duties/kube-proxy.ts';
import { membership } from './duties/membership.ts';
import { peerRoutes } from './duties/peer-routes.ts';
import { podNetwork } from './duties/pod-network.ts';
import { readyToJoin } from './duties/ready-to-join.ts';
import { spentToken } from './duties/spent-token.ts';
import type { NodeRole } from '../contract/machine-role.ts';
import type { Duty } from './duty.ts';

export const duties: readonly Duty[] = [
  keys,
  credentials,
  kubelet,
  clusterView,
  spentToken,
  readyToJoin,
  etcdMember,
  controlPlaneDuty,
  configServer,
  approver,
  membership,
  podNetwork,
  peerRoutes,
  kubeProxy,
];

/** Those of a role; what another role alone does is not needed. */
export function dutiesOf(role: NodeRole): readonly Duty[] {
  const own = duties.filter(({ roles }) => roles.includes(role));
  const names = new Set(own.map(({ name }) => name));
  return own.map((duty) => ({ ...duty, needs: duty.needs.filter((name) => names.has(name)) }));
}
