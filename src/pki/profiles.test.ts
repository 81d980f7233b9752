import { describe, expect, test } from 'vitest';
import { sampleContents } from '../../test/oracle/pki-sample.ts';
import { type LeafName, type LeafProfile, leafProfiles, type SignerProfile, signerProfiles } from './profiles.ts';
import { trustBundles } from './trust-bundles.ts';

const leaves = Object.entries<LeafProfile>(leafProfiles) as [LeafName, LeafProfile][];

describe('the table of leaves', () => {
  test('gives each group that has rights to one identity alone', () => {
    const holders: Record<string, readonly string[]> = {};
    for (const [name] of leaves) {
      for (const group of sampleContents(name).subject.organizations)
        holders[group] = [...(holders[group] ?? []), name];
    }
    expect(holders).toEqual({
      'system:masters': ['break-glass-admin'],
      'firstlight:admins': ['admin'],
      'firstlight:node-agents': ['node-agent'],
      'firstlight:config-servers': ['config-server-client'],
      'system:nodes': ['kubelet-client', 'kubelet-serving'],
    });
  });

  test('names no two clients of one signer alike', () => {
    const clients = leaves
      .filter(([, { purpose }]) => purpose === 'client')
      .map(([name, { signer }]) => `${signer} ${sampleContents(name).subject.commonName}`);
    expect(new Set(clients).size).toBe(clients.length);
  });

  test('gives alternative names to those who answer and to nobody else', () => {
    for (const [name, { purpose }] of leaves) {
      const { dnsNames, ipAddresses } = sampleContents(name);
      expect([name, dnsNames.length + ipAddresses.length > 0]).toEqual([name, purpose !== 'client']);
    }
  });

  test('has none that lives longer than a year', () => {
    for (const [name, { validityDays }] of leaves) expect([name, validityDays]).toEqual([name, 365]);
  });

  test('has no client of etcd but kube-apiserver and whoever looks after the members', () => {
    const clients = leaves.filter(([, leaf]) => leaf.signer === 'etcd-signer' && leaf.purpose === 'client');
    expect(clients.map(([name]) => name)).toEqual(['apiserver-etcd-client', 'etcd-membership-client']);
  });
});

describe('the table of signers', () => {
  const signers = Object.entries<SignerProfile>(signerProfiles);
  const parents = signers.flatMap(([, { signedBy }]) => signedBy ?? []);

  test('has no signer that signs nothing: each signs leaves or other signers, and only the latter may', () => {
    const signing = [...leaves.map(([, { signer }]) => signer), ...parents];
    expect([...new Set(signing)].sort()).toEqual(signers.map(([name]) => name).sort());
    for (const [name, { pathLength = 0 }] of signers) expect(pathLength).toBe(parents.includes(name) ? 1 : 0);
  });

  test('every signer is trusted somewhere, or the one that vouches for it is', () => {
    const trusted: readonly string[] = Object.values(trustBundles).flatMap(({ signers: list }) => list);
    for (const [name, { signedBy }] of signers) expect(trusted).toContain(signedBy ?? name);
  });
});
