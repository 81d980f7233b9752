// The duties of an agent by name, as they stand in its state file and in the timeline of its machine. The workstation
// reads both, so a name must not change alone.

export const dutyNames = [
  'keys',
  'credentials',
  'kubelet',
  'cluster-view',
  'spent-token',
  'ready-to-join',
  'etcd-member',
  'control-plane',
  'secrets-encryption',
  'config-server',
  'approver',
  'membership',
  'pool-rollout',
  'in-place',
  'pod-network',
  'peer-routes',
  'kube-proxy',
  'machine-config',
  'machine-secrets',
  'registry-trust',
] as const;
export type DutyName = (typeof dutyNames)[number];
