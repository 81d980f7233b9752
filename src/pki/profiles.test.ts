import { describe, expect, test } from 'vitest';
import { sampleContents } from '../../test/oracle/pki-sample.ts';
import { type LeafName, type LeafProfile, leafProfiles, signerProfiles } from './profiles.ts';
import { trustBundles } from './trust-bundles.ts';

const leaves = Object.entries<LeafProfile>(leafProfiles) as [LeafName, LeafProfile][];

describe('the table of leaves', () => {
  test('gives system:masters to the break-glass administrator alone', () => {
    const masters = leaves.filter(([name]) => sampleContents(name).subject.organizations.includes('system:masters'));
    expect(masters.map(([name]) => name)).toEqual(['break-glass-admin']);
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

  test('lets no machine hold a certificate that it could not renew, unless it lasts as long as its signer', () => {
    const sentOut = leaves.filter(([, leaf]) => leaf.signer === 'root-ca');
    for (const [, leaf] of sentOut) expect(leaf.validityDays).toBe(signerProfiles[leaf.signer].validityDays);
  });

  test('uses every signer, and every signer is trusted somewhere', () => {
    const signers = Object.keys(signerProfiles).sort();
    expect([...new Set(leaves.map(([, { signer }]) => signer))].sort()).toEqual(signers);
    expect([...new Set(Object.values(trustBundles).flatMap(({ signers }) => signers))].sort()).toEqual(signers);
  });
});
