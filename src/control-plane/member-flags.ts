// The command line of an etcd 3.7 member. Two rules: `--max-learners` must be the same on every member (etcd
// checks it when a change is applied and at every start), and `--initial-cluster-state=new` is used once in the life of
// a cluster, at the first start of the bootstrap machine.
import { etcdPorts, httpsUrl } from '../contract/ports.ts';
import { goCipherSuites } from '../contract/tls-policy.ts';
import type { InitialMember } from '../etcd/member.ts';

export interface MemberFiles {
  readonly ca: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly peerCertificate: string;
  readonly peerKey: string;
}

export interface MemberPorts {
  readonly client: number;
  readonly peer: number;
  /** Plain HTTP on loopback: health for the kubelet, and metrics. */
  readonly metrics: number;
}

export interface MemberFlags {
  readonly name: string;
  /** The address other machines reach it at; it must be in both certificates. */
  readonly address: string;
  readonly ports?: MemberPorts;
  readonly dataFolder: string;
  readonly files: MemberFiles;
  /** The id of the cluster: members of two clusters never join each other. */
  readonly clusterToken: string;
  readonly initialCluster: readonly InitialMember[];
  readonly initialState: 'new' | 'existing';
  /** As many as there are masters, so that all can catch up together. */
  readonly maxLearners: number;
  /** `slow` for disks whose fdatasync takes 50 to 500 ms at the 99th percentile; then on every member. */
  readonly profile: MemberProfile;
}

export type MemberProfile = 'normal' | 'slow';

const timing: Readonly<Record<MemberProfile, { readonly heartbeatMs: number; readonly electionMs: number }>> = {
  normal: { heartbeatMs: 100, electionMs: 1000 },
  slow: { heartbeatMs: 500, electionMs: 2500 },
};
const quotaBytes = 8 * 2 ** 30;

export function memberFlags(member: MemberFlags): readonly string[] {
  if (member.initialState === 'new' && member.initialCluster.length !== 1) {
    throw new Error('a cluster begins with one member; every later one joins an existing cluster');
  }
  const { files, ports = etcdPorts } = member;
  const { heartbeatMs, electionMs } = timing[member.profile];
  const clientUrl = httpsUrl(member.address, ports.client);
  const peerUrl = httpsUrl(member.address, ports.peer);
  const loopbackUrl = httpsUrl('127.0.0.1', ports.client);
  return [
    `--name=${member.name}`,
    `--data-dir=${member.dataFolder}`,
    `--listen-client-urls=${[...new Set([loopbackUrl, clientUrl])].join(',')}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${member.initialCluster.map((each) => `${each.name}=${each.peerUrl}`).join(',')}`,
    `--initial-cluster-state=${member.initialState}`,
    `--initial-cluster-token=${member.clusterToken}`,
    `--max-learners=${member.maxLearners}`,
    `--cert-file=${files.serverCertificate}`,
    `--key-file=${files.serverKey}`,
    `--trusted-ca-file=${files.ca}`,
    '--client-cert-auth=true',
    `--peer-cert-file=${files.peerCertificate}`,
    `--peer-key-file=${files.peerKey}`,
    `--peer-trusted-ca-file=${files.ca}`,
    '--peer-client-cert-auth=true',
    '--tls-min-version=TLS1.2',
    `--cipher-suites=${goCipherSuites.join(',')}`,
    `--listen-metrics-urls=http://127.0.0.1:${ports.metrics}`,
    '--snapshot-count=10000',
    `--quota-backend-bytes=${quotaBytes}`,
    `--heartbeat-interval=${heartbeatMs}`,
    `--election-timeout=${electionMs}`,
    '--feature-gates=InitialCorruptCheck=true',
    '--watch-progress-notify-interval=5s',
  ];
}
