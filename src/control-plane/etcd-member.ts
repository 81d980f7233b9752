// The flags of the etcd member on a control-plane machine, with the files and the data folder of that machine.
import { etcdDataFolder } from '../contract/machine-paths.ts';
import type { InitialMember } from '../etcd/member.ts';
import { certificateFile, componentFile, keyFile } from './control-plane-paths.ts';
import { type MemberPorts, type MemberProfile, memberFlags } from './member-flags.ts';

export interface EtcdMemberOptions {
  readonly name: string;
  readonly address: string;
  readonly clusterToken: string;
  readonly initialCluster: readonly InitialMember[];
  readonly initialState: 'new' | 'existing';
  /** How many masters the cluster is meant to have. */
  readonly masters: number;
  readonly profile?: MemberProfile;
  readonly ports?: MemberPorts;
}

export function etcdMemberFlags(options: EtcdMemberOptions): readonly string[] {
  return memberFlags({
    name: options.name,
    address: options.address,
    ...(options.ports === undefined ? {} : { ports: options.ports }),
    dataFolder: etcdDataFolder,
    files: {
      ca: componentFile('etcd', 'etcd-ca.crt'),
      serverCertificate: certificateFile('etcd-server'),
      serverKey: keyFile('etcd-server'),
      peerCertificate: certificateFile('etcd-peer'),
      peerKey: keyFile('etcd-peer'),
    },
    clusterToken: options.clusterToken,
    initialCluster: options.initialCluster,
    initialState: options.initialState,
    maxLearners: options.masters,
    profile: options.profile ?? 'normal',
  });
}
