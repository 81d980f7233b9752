// Every signer and every leaf of a cluster, as two tables: its names, its usages, its holders, why it exists.
// Assets, masters that sign their own leaves, and `explain` read the same rows.
// Exactly one row has the group system:masters, and no row is the identity of two components.
import { adminGroup, configServerGroup, nodeAgentGroup } from '../contract/cluster-objects.ts';
import type { LeafContents, Purpose, SignerContents } from './issue.ts';
import type { Subject } from './names.ts';

export interface SignerProfile extends SignerContents {
  /** The signer that vouches for it, where clients know only that one. Without it, it vouches for itself. */
  readonly signedBy?: string;
  /** What it signs. */
  readonly signs: string;
  readonly heldBy: string;
  readonly why: string;
}

/** What a certificate needs to know about the cluster. */
export interface ClusterEndpoints {
  /** `<name>.<baseDomain>`: the domain below which api, api-int and *.apps live. */
  readonly domain: string;
  /** The first address of each service network: where pods find the API. */
  readonly serviceAddresses: readonly string[];
  /** Addresses of the load balancer, where the platform has fixed ones. */
  readonly apiVips: readonly string[];
}

/** What a certificate needs to know about the machine that will hold it. */
export interface CertifiedMachine {
  readonly name: string;
  /** Every source address of its connections: etcd refuses a peer whose address is not in its certificate. */
  readonly addresses: readonly string[];
}

export interface CertificateFacts {
  readonly cluster: ClusterEndpoints;
  readonly machine: CertifiedMachine;
  /** The validity of leaves that a control-plane machine makes for itself; without it, the one of their row. */
  readonly leafMinutes?: number | undefined;
}

interface Names {
  readonly subject: Subject;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

interface LeafProfileBase {
  readonly signer: SignerName;
  readonly purpose: Purpose;
  readonly validityDays: number;
  readonly heldBy: string;
  readonly why: string;
}

/** Made once for the cluster, on the workstation. */
export interface ClusterLeafProfile extends LeafProfileBase {
  readonly madeOn: 'workstation';
  readonly names: (facts: Pick<CertificateFacts, 'cluster'>) => Names;
}

/** Made per machine. `machine`: by a control-plane machine for itself. `request`: signed for a kubelet that asked. */
export interface MachineLeafProfile extends LeafProfileBase {
  readonly madeOn: 'machine' | 'request';
  readonly names: (facts: CertificateFacts) => Names;
}

export type LeafProfile = ClusterLeafProfile | MachineLeafProfile;

const tenYearsDays = 3650;
const yearDays = 365;
const mastersHold = 'bootstrap machine, then every master, in /etc/kubernetes/pki; a copy in the asset folder';

export const signerProfiles = {
  'root-ca': {
    subject: named('root-ca'),
    validityDays: tenYearsDays,
    pathLength: 1,
    signs: 'the signer of config servers',
    heldBy: 'workstation only',
    why: 'A machine that knows nothing must still know whom to ask for its configuration.',
  },
  'config-server-signer': {
    subject: named('config-server-signer'),
    validityDays: tenYearsDays,
    signedBy: 'root-ca',
    signsFor: 'server',
    signs: 'the serving certificate of every config server',
    heldBy: mastersHold,
    why: 'Masters make and renew the certificates of their config servers, and root-ca stays on the workstation.',
  },
  'etcd-signer': {
    subject: named('etcd-signer'),
    validityDays: tenYearsDays,
    signs: 'etcd members and their clients',
    heldBy: mastersHold,
    why: 'Whoever etcd believes may read and write everything, so nothing but etcd believes this signer.',
  },
  'apiserver-serving-signer': {
    subject: named('apiserver-serving-signer'),
    validityDays: tenYearsDays,
    signs: 'the serving certificate of every kube-apiserver',
    heldBy: mastersHold,
    why: 'Clients and pods recognise the API by it; it can make no identity that the API would believe.',
  },
  'control-plane-client-signer': {
    subject: named('control-plane-client-signer'),
    validityDays: tenYearsDays,
    signs: 'clients of the API: control plane, node agents, config servers, administrators',
    heldBy: mastersHold,
    why: 'It can make any identity the API knows; apart from the kubelet signer, so that neither outlives its need.',
  },
  'kubelet-signer': {
    subject: named('kubelet-signer'),
    validityDays: tenYearsDays,
    signs: 'certificates that kubelets ask for, and client certificates of people that an administrator approved',
    heldBy: mastersHold,
    why: 'Signs on request, by rules; kept apart from what signs for the control plane without being asked.',
  },
  'front-proxy-signer': {
    subject: named('front-proxy-signer'),
    validityDays: tenYearsDays,
    signs: 'the identity by which kube-apiserver forwards requests to extension servers',
    heldBy: mastersHold,
    why: 'Its holder may say who the user is; sharing it with any other purpose would let clients impersonate.',
  },
} as const satisfies Record<string, SignerProfile>;

export type SignerName = keyof typeof signerProfiles;

const controlPlaneClient = {
  signer: 'control-plane-client-signer',
  purpose: 'client',
  madeOn: 'machine',
  validityDays: yearDays,
} as const;
const etcdMember = {
  signer: 'etcd-signer',
  purpose: 'server-and-client',
  madeOn: 'machine',
  validityDays: yearDays,
} as const;
const etcdClient = { signer: 'etcd-signer', purpose: 'client', madeOn: 'machine', validityDays: yearDays } as const;

export const leafProfiles = {
  'machine-config-server': {
    signer: 'config-server-signer',
    purpose: 'server',
    madeOn: 'machine',
    validityDays: yearDays,
    names: ({ cluster }: CertificateFacts) => ({
      subject: named('machine-config-server'),
      dnsNames: [`api-int.${cluster.domain}`],
      ipAddresses: cluster.apiVips,
    }),
    heldBy:
      'config server of that machine; the workstation makes the one of the bootstrap machine, which must serve at once',
    why: 'Lets a first boot, which knows only root-ca, be sure who sends its configuration.',
  },
  admin: {
    ...controlPlaneClient,
    madeOn: 'workstation',
    names: () => ({ subject: named('admin', adminGroup) }),
    heldBy: 'workstation, in auth/kubeconfig and kubeconfig-internal',
    why: 'Day-to-day administration through a group that a ClusterRoleBinding makes cluster-admin, and can unmake.',
  },
  'break-glass-admin': {
    ...controlPlaneClient,
    madeOn: 'workstation',
    names: () => ({ subject: named('break-glass-admin', 'system:masters') }),
    heldBy: 'workstation only',
    why: 'When RBAC itself is broken: the API lets system:masters pass without asking. Nothing else carries that group.',
  },
  'kube-apiserver': {
    signer: 'apiserver-serving-signer',
    purpose: 'server',
    madeOn: 'machine',
    validityDays: yearDays,
    names: ({ cluster, machine }) => ({
      subject: named('kube-apiserver'),
      dnsNames: [
        `api.${cluster.domain}`,
        `api-int.${cluster.domain}`,
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
        'localhost',
        machine.name,
      ],
      ipAddresses: [...cluster.serviceAddresses, ...cluster.apiVips, '127.0.0.1', '::1', ...machine.addresses],
    }),
    heldBy: 'kube-apiserver of that machine',
    why: 'One certificate for every name by which the API is called: load balancer, service, loopback, machine.',
  },
  'apiserver-kubelet-client': {
    ...controlPlaneClient,
    names: () => ({ subject: named('kube-apiserver-kubelet-client') }),
    heldBy: 'kube-apiserver of that machine',
    why: 'Logs, exec and port-forward: kubelets let this user in through a binding to system:kubelet-api-admin.',
  },
  'apiserver-etcd-client': {
    ...etcdClient,
    names: () => ({ subject: named('kube-apiserver-etcd-client') }),
    heldBy: 'kube-apiserver of that machine',
    why: 'The API server is the one component that keeps its state in etcd.',
  },
  'front-proxy-client': {
    ...controlPlaneClient,
    signer: 'front-proxy-signer',
    names: () => ({ subject: named('front-proxy-client') }),
    heldBy: 'kube-apiserver of that machine',
    why: 'Extension API servers believe X-Remote-User only from the holder of this certificate.',
  },
  'etcd-server': {
    ...etcdMember,
    names: etcdMemberNames,
    heldBy: 'etcd of that machine',
    why: 'etcd dials its own client port through the JSON gateway with this certificate, so it needs clientAuth as well.',
  },
  'etcd-peer': {
    ...etcdMember,
    names: etcdMemberNames,
    heldBy: 'etcd of that machine',
    why: 'Members both call and answer each other; the answering one compares the source address with the SANs.',
  },
  'etcd-membership-client': {
    ...etcdClient,
    names: () => ({ subject: named('etcd-membership-client') }),
    heldBy: 'bootkube of the bootstrap machine; node agent of that master',
    why: 'Asks members how they are, adds, promotes and removes them; a name of its own shows in the logs of etcd who did.',
  },
  'kube-controller-manager': {
    ...controlPlaneClient,
    names: () => ({ subject: named('system:kube-controller-manager') }),
    heldBy: 'kube-controller-manager of that machine',
    why: 'The user to which the API binds the role of the controller manager by itself.',
  },
  'kube-scheduler': {
    ...controlPlaneClient,
    names: () => ({ subject: named('system:kube-scheduler') }),
    heldBy: 'kube-scheduler of that machine',
    why: 'The user to which the API binds the role of the scheduler by itself.',
  },
  'kube-proxy': {
    ...controlPlaneClient,
    names: () => ({ subject: named('system:kube-proxy') }),
    heldBy: 'kube-proxy of that machine',
    why: 'The user to which the API binds system:node-proxier; on masters, before service accounts can be used.',
  },
  'node-agent': {
    ...controlPlaneClient,
    names: ({ machine }: CertificateFacts) => ({
      subject: named(`firstlight:node-agent:${machine.name}`, nodeAgentGroup),
    }),
    heldBy: 'node agent of that control-plane machine; agents of workers act as their kubelet',
    why: 'Approves requests, labels nodes and holds Leases, in its own name and only as far as its group is bound.',
  },
  'config-server-client': {
    ...controlPlaneClient,
    names: ({ machine }: CertificateFacts) => ({
      subject: named(`firstlight:config-server:${machine.name}`, configServerGroup),
    }),
    heldBy: 'config server of that master',
    why: 'Whoever takes over a server that strangers reach gets the rights of that server, and not those of the agent.',
  },
  'kubelet-client': {
    signer: 'kubelet-signer',
    purpose: 'client',
    madeOn: 'request',
    validityDays: yearDays,
    names: ({ machine }: CertificateFacts) => ({ subject: nodeSubject(machine) }),
    heldBy: 'kubelet of that machine, where the key was made',
    why: 'The node authorizer lets a kubelet touch only what belongs to the node in its name.',
  },
  'kubelet-serving': {
    signer: 'kubelet-signer',
    purpose: 'server',
    madeOn: 'request',
    validityDays: yearDays,
    names: ({ machine }: CertificateFacts) => ({
      subject: nodeSubject(machine),
      dnsNames: [machine.name],
      ipAddresses: machine.addresses,
    }),
    heldBy: 'kubelet of that machine, which made the key',
    why: 'Lets kube-apiserver be sure to which kubelet it sends the commands of users.',
  },
} as const satisfies Record<string, LeafProfile>;

export type LeafName = keyof typeof leafProfiles;

type Profiles = typeof leafProfiles;
export type ClusterLeafName = { [N in LeafName]: Profiles[N]['madeOn'] extends 'workstation' ? N : never }[LeafName];
export type MachineLeafName = Exclude<LeafName, ClusterLeafName>;

/** What a leaf of the cluster is issued with. */
export function clusterLeaf(name: ClusterLeafName, facts: Pick<CertificateFacts, 'cluster'>): LeafContents {
  const profile: ClusterLeafProfile = leafProfiles[name];
  return contentsOf(profile, profile.names(facts));
}

/** What a leaf of a machine is issued with. */
export function machineLeaf(name: MachineLeafName, facts: CertificateFacts): LeafContents {
  const profile: MachineLeafProfile = leafProfiles[name];
  const contents = contentsOf(profile, profile.names(facts));
  if (facts.leafMinutes === undefined || profile.madeOn !== 'machine') return contents;
  return { ...contents, validityDays: facts.leafMinutes / (24 * 60) };
}

/**
 * What a server with this leaf sends: the leaf and, where clients know only who vouches for its signer, the certificate
 * of the signer.
 */
export function servedChain(name: LeafName, certificatePem: string, signerPem: string): string {
  const signer: SignerProfile = signerProfiles[leafProfiles[name].signer];
  return signer.signedBy === undefined ? certificatePem : `${certificatePem}${signerPem}`;
}

function contentsOf(profile: LeafProfile, names: Names): LeafContents {
  return {
    subject: names.subject,
    dnsNames: names.dnsNames ?? [],
    ipAddresses: names.ipAddresses ?? [],
    purpose: profile.purpose,
    validityDays: profile.validityDays,
  };
}

function etcdMemberNames({ machine }: CertificateFacts): Names {
  return {
    subject: named(machine.name),
    dnsNames: ['localhost', machine.name],
    ipAddresses: ['127.0.0.1', '::1', ...machine.addresses],
  };
}

function nodeSubject(machine: CertifiedMachine): Subject {
  return named(`system:node:${machine.name}`, 'system:nodes');
}

function named(commonName: string, ...organizations: readonly string[]): Subject {
  return { commonName, organizations };
}
