// The Leases under which one agent at a time does what must be done by one. They exist from the first day (a manifest),
// so that agents need no right to create any.
export const leaseNamespace = 'kube-system';

export const membershipLease = 'etcd-membership';
export const approverLease = 'csr-approver';
export const renewalLease = 'leaf-renewal';

export const agentLeases: readonly string[] = [membershipLease, approverLease, renewalLease];
