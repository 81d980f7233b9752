// Every duty of a machine, in the order in which the duties can be settled on a new machine: from top to bottom the
// list shows how a machine becomes part of the cluster.
import type { NodeRole } from '../contract/machine-role.ts';
import { approverDuty } from './duties/approver.ts';
import { clusterViewDuty } from './duties/cluster-view.ts';
import { configServerDuty } from './duties/config-server.ts';
import { controlPlaneDuty } from './duties/control-plane.ts';
import { credentialsDuty } from './duties/credentials.ts';
import { etcdMemberDuty } from './duties/etcd-member.ts';
import { inPlaceDuty } from './duties/in-place.ts';
import { keysDuty } from './duties/keys.ts';
import { kubeProxyDuty } from './duties/kube-proxy.ts';
import { kubeletDuty } from './duties/kubelet.ts';
import { machineConfigDuty } from './duties/machine-config.ts';
import { machineSecretsDuty } from './duties/machine-secrets.ts';
import { membershipDuty } from './duties/membership.ts';
import { peerRoutesDuty } from './duties/peer-routes.ts';
import { podNetworkDuty } from './duties/pod-network.ts';
import { poolRolloutDuty } from './duties/pool-rollout.ts';
import { readyToJoinDuty } from './duties/ready-to-join.ts';
import { registryTrustDuty } from './duties/registry-trust.ts';
import { secretsEncryptionDuty } from './duties/secrets-encryption.ts';
import { spentTokenDuty } from './duties/spent-token.ts';
import type { Duty } from './duty.ts';

export const duties: readonly Duty[] = [
  keysDuty,
  credentialsDuty,
  kubeletDuty,
  clusterViewDuty,
  spentTokenDuty,
  readyToJoinDuty,
  etcdMemberDuty,
  controlPlaneDuty,
  secretsEncryptionDuty,
  configServerDuty,
  approverDuty,
  membershipDuty,
  poolRolloutDuty,
  inPlaceDuty,
  podNetworkDuty,
  peerRoutesDuty,
  kubeProxyDuty,
  machineConfigDuty,
  machineSecretsDuty,
  registryTrustDuty,
];

/** The duties of a role; a need for a duty that only the other role has is dropped. */
export function dutiesOf(role: NodeRole): readonly Duty[] {
  const own = duties.filter(({ roles }) => roles.includes(role));
  const names = new Set(own.map(({ name }) => name));
  return own.map((duty) => ({ ...duty, needs: duty.needs.filter((name) => names.has(name)) }));
}
