import { expect, test } from 'vitest';
import { type MemberFlags, memberFlags } from './member-flags.ts';

const files = {
  ca: '/pki/ca.crt',
  serverCertificate: '/pki/server.crt',
  serverKey: '/pki/server.key',
  peerCertificate: '/pki/peer.crt',
  peerKey: '/pki/peer.key',
};
const member: MemberFlags = {
  name: 'master-0',
  address: 'fd00:99::10',
  dataFolder: '/var/lib/etcd',
  files,
  clusterToken: 'd0c0ffee',
  initialCluster: [
    { name: 'bootstrap', peerUrl: 'https://[fd00:99::2]:2380' },
    { name: 'master-0', peerUrl: 'https://[fd00:99::10]:2380' },
  ],
  initialState: 'existing',
  maxLearners: 3,
  profile: 'normal',
};

test('a member listens on its address and on loopback, and announces its address alone', () => {
  const flags = memberFlags(member);
  expect(flags).toContain('--listen-client-urls=https://127.0.0.1:2379,https://[fd00:99::10]:2379');
  expect(flags).toContain('--advertise-client-urls=https://[fd00:99::10]:2379');
  expect(flags).toContain('--listen-peer-urls=https://[fd00:99::10]:2380');
  expect(flags).toContain('--initial-cluster=bootstrap=https://[fd00:99::2]:2380,master-0=https://[fd00:99::10]:2380');
  expect(flags).toContain('--initial-cluster-state=existing');
  expect(flags).toContain('--max-learners=3');
});

test('both ports ask for certificates', () => {
  expect(memberFlags(member)).toEqual(
    expect.arrayContaining(['--client-cert-auth=true', '--peer-client-cert-auth=true']),
  );
});

test('a slow disk gets longer heartbeats', () => {
  const flags = memberFlags({ ...member, profile: 'slow' });
  expect(flags).toEqual(expect.arrayContaining(['--heartbeat-interval=500', '--election-timeout=2500']));
});

test('a new cluster has exactly one member', () => {
  expect(() => memberFlags({ ...member, initialState: 'new' })).toThrow('a cluster begins with one member');
});
