import { describe, expect, test } from 'vitest';
import { sampleContents, sampleFacts, sampleNow, samplePki, sampleRandom } from '../../test/oracle/pki-sample.ts';
import { joinBundle, readCertificate } from './certificate.ts';
import { isSignedBy, keyMatches, needsRenewal, reissueReasons, signerIn, validityAt } from './chain.ts';
import { issueLeaf } from './issue.ts';
import { machineLeaf } from './profiles.ts';

const day = 86_400_000;
const pki = samplePki('chain');
const after = (days: number) => new Date(sampleNow.getTime() + days * day);

describe('the life of a certificate', () => {
  test('is counted from its first to its last second, both included', () => {
    const leaf = readCertificate(pki.leaves['etcd-peer'].certificatePem);
    expect(validityAt(leaf, new Date(leaf.notBefore.getTime() - 1))).toEqual({
      status: 'not-yet-valid',
      startsInMs: 1,
    });
    expect(validityAt(leaf, leaf.notBefore)).toMatchObject({ status: 'valid', used: 0 });
    expect(validityAt(leaf, leaf.notAfter)).toEqual({ status: 'valid', remainingMs: 0, used: 1 });
    expect(validityAt(leaf, new Date(leaf.notAfter.getTime() + 1))).toEqual({ status: 'expired', sinceMs: 1 });
  });

  test('is renewed from 70 % on', () => {
    const leaf = readCertificate(pki.leaves['etcd-peer'].certificatePem);
    expect(needsRenewal(leaf, after(0.69 * 365))).toBe(false);
    expect(needsRenewal(leaf, after(0.71 * 365))).toBe(true);
    expect(needsRenewal(leaf, after(400))).toBe(true);
    expect(needsRenewal(leaf, after(-1))).toBe(false);
  });

  test('of ten minutes is fresh when it is made, and renewed while components still have time to take it up', () => {
    const contents = machineLeaf('kube-scheduler', { ...sampleFacts, leafMinutes: 10 });
    const signer = pki.signers['control-plane-client-signer'];
    const random = sampleRandom('short');
    const leaf = readCertificate(issueLeaf(contents, signer, { random, now: sampleNow }).certificatePem);
    const minute = 1 / (24 * 60);
    expect(validityAt(leaf, sampleNow)).toMatchObject({ status: 'valid', remainingMs: 600_000 });
    expect(needsRenewal(leaf, after(3.9 * minute))).toBe(false);
    expect(needsRenewal(leaf, after(4.1 * minute))).toBe(true);
  });
});

describe('a chain', () => {
  test('leads to the signer that signed, and to no other', () => {
    const leaf = readCertificate(pki.leaves['kube-scheduler'].certificatePem);
    const signedBy = Object.entries(pki.signers).filter(([, signer]) =>
      isSignedBy(leaf, readCertificate(signer.certificatePem)),
    );
    expect(signedBy.map(([name]) => name)).toEqual(['control-plane-client-signer']);
  });

  test('does not lead through a leaf, nor to a namesake with another key', () => {
    const leaf = readCertificate(pki.leaves['kube-scheduler'].certificatePem);
    const other = samplePki('namesake');
    expect(isSignedBy(leaf, leaf)).toBe(false);
    expect(isSignedBy(leaf, readCertificate(other.signers['control-plane-client-signer'].certificatePem))).toBe(false);
  });

  test('is found in a bundle', () => {
    const bundle = joinBundle(Object.values(pki.signers).map(({ certificatePem }) => certificatePem));
    const leaf = readCertificate(pki.leaves.admin.certificatePem);
    expect(signerIn(bundle, leaf)?.subject.commonName).toBe('control-plane-client-signer');
  });
});

test('a key matches its own certificate only', () => {
  const { admin, 'kube-proxy': proxy } = pki.leaves;
  expect(keyMatches(admin.key, readCertificate(admin.certificatePem))).toBe(true);
  expect(keyMatches(proxy.key, readCertificate(admin.certificatePem))).toBe(false);
});

describe('a credential is issued anew', () => {
  const reasons = (change: object, now = sampleNow, signer = pki.signers['apiserver-serving-signer']) =>
    reissueReasons(pki.leaves['kube-apiserver'], {
      contents: { ...sampleContents('kube-apiserver'), ...change },
      signerBundlePem: signer.certificatePem,
      now,
    });

  test('not while it is what we want', () => {
    expect(reasons({})).toEqual([]);
  });

  test('when an address, a name or a usage changed, when it ages, when its signer is not ours', () => {
    expect(reasons({ ipAddresses: ['10.0.0.1'] })[0]).toMatch(/^its addresses are .* instead of 10\.0\.0\.1$/);
    expect(reasons({ dnsNames: [] })[0]).toMatch(/instead of none$/);
    expect(reasons({ purpose: 'client' })).toEqual(['its usages are serverAuth instead of clientAuth']);
    expect(reasons({}, after(300))).toEqual(['82 % of its life has passed; it expires at 2027-11-15T05:00:00.000Z']);
    expect(reasons({}, after(366))).toEqual(['it expired at 2027-11-15T05:00:00.000Z']);
    expect(reasons({}, sampleNow, pki.signers['etcd-signer'])).toEqual([
      'CN=apiserver-serving-signer signed it, which is not our signer',
    ]);
  });
});
