import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleNow, samplePki, sampleRandom } from '../../test/oracle/pki-sample.ts';
import { canonicalAddress } from '../contract/addresses.ts';
import { readCertificate, signerIdentity } from './certificate.ts';
import { isSignedBy } from './chain.ts';
import { pkiErrors } from './errors.ts';
import { issueLeaf, issueSigner, type LeafContents, type Purpose, purposeUsages } from './issue.ts';

const hour = 3_600_000;
const day = 24 * hour;
const contents: LeafContents = {
  subject: { commonName: 'leaf', organizations: [] },
  dnsNames: ['leaf.firstlight.test'],
  ipAddresses: [],
  purpose: 'server',
  validityDays: 365,
};

const signer = issueSigner(
  { subject: { commonName: 'signer', organizations: [] }, validityDays: 1000 },
  { random: sampleRandom('signer'), now: sampleNow },
);

const at = (now: Date) => ({ random: sampleRandom('leaf'), now });
const laterBy = (ms: number) => new Date(sampleNow.getTime() + ms);

describe('a signer', () => {
  test('may sign leaves and nothing else', () => {
    const certificate = readCertificate(signer.certificatePem);
    expect(certificate).toMatchObject({ isCa: true, extendedKeyUsages: [] });
    const octets = new X509Certificate(signer.certificatePem).raw.toString('hex');
    const [keyCertSignAndCrlSign, caOfPathLengthZero] = ['03020106', '30060101ff020100'];
    expect(octets).toContain(`0603551d0f0101ff0404${keyCertSignAndCrlSign}`);
    expect(octets).toContain(`0603551d130101ff0408${caOfPathLengthZero}`);
    expect(isSignedBy(certificate, certificate)).toBe(true);
    const keyId = Buffer.from(signerIdentity(signer.certificatePem).keyId ?? []).toString('hex');
    expect(keyId).toHaveLength(40);
    expect(octets).toContain(`0603551d23041830168014${keyId}`);
  });
});

describe('a leaf', () => {
  test('begins an hour before it is made, but not before its signer', () => {
    const early = readCertificate(issueLeaf(contents, signer, at(laterBy(-30 * 60_000))).certificatePem);
    expect(early.notBefore).toEqual(laterBy(-hour));
    const late = readCertificate(issueLeaf(contents, signer, at(laterBy(30 * day))).certificatePem);
    expect(late.notBefore).toEqual(laterBy(30 * day - hour));
    expect(late.notAfter).toEqual(laterBy(395 * day));
  });

  test('never outlives its signer', () => {
    const leaf = readCertificate(issueLeaf(contents, signer, at(laterBy(900 * day))).certificatePem);
    expect(leaf.notAfter).toEqual(laterBy(1000 * day));
  });

  test('is not made by an expired signer, nor by a machine whose clock is before the signer', () => {
    expect(() => issueLeaf(contents, signer, at(laterBy(1000 * day)))).toThrow(
      expect.objectContaining({ code: pkiErrors.SIGNER_EXPIRED.code }),
    );
    expect(() => issueLeaf(contents, signer, at(laterBy(-2 * hour)))).toThrow(
      expect.objectContaining({ code: pkiErrors.SIGNER_NOT_YET_VALID.code }),
    );
  });

  test('is not made by another leaf, nor with the key of another signer', () => {
    const leaf = issueLeaf(contents, signer, at(sampleNow));
    expect(() => issueLeaf(contents, leaf, at(sampleNow))).toThrow(
      expect.objectContaining({ code: pkiErrors.NOT_A_SIGNER.code }),
    );
    const mixed = { certificatePem: signer.certificatePem, key: leaf.key };
    expect(() => issueLeaf(contents, mixed, at(sampleNow))).toThrow(
      expect.objectContaining({ code: pkiErrors.NOT_A_SIGNER.code }),
    );
  });

  test('refuses names that no client could match', () => {
    for (const dnsNames of [['Master-0'], ['10.0.0.1 '], ['a..b'], ['-a'], ['']]) {
      expect(() => issueLeaf({ ...contents, dnsNames }, signer, at(sampleNow))).toThrow('is not a DNS name');
    }
    const ipAddresses = ['10.0.0.256'];
    expect(() => issueLeaf({ ...contents, ipAddresses }, signer, at(sampleNow))).toThrow('ip');
  });

  test('reads back as what it was issued with', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
    const anyContents = fc.record({
      subject: fc.record({
        commonName: fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme' }),
        organizations: fc.array(fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme-composite' }), {
          maxLength: 3,
        }),
      }),
      dnsNames: fc.uniqueArray(
        fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
        { maxLength: 6 },
      ),
      ipAddresses: fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()).map(canonicalAddress), { maxLength: 6 }),
      purpose: fc.constantFrom<Purpose>('server', 'client', 'server-and-client'),
      validityDays: fc.integer({ min: 1, max: 900 }),
    });
    fc.assert(
      fc.property(anyContents, fc.string(), (wanted, seed) => {
        const options = { random: sampleRandom(seed), now: sampleNow };
        const { certificatePem, key } = issueLeaf(wanted, signer, options);
        const certificate = readCertificate(certificatePem);
        expect(certificate).toMatchObject({
          subject: wanted.subject,
          dnsNames: wanted.dnsNames,
          ipAddresses: wanted.ipAddresses,
          extendedKeyUsages: purposeUsages[wanted.purpose],
          notAfter: laterBy(wanted.validityDays * day),
          issuer: { commonName: 'signer', organizations: [] },
          publicPem: key.publicPem,
        });
        const names = new X509Certificate(certificatePem).subjectAltName?.split(', ') ?? [];
        expect(names).toHaveLength(wanted.dnsNames.length + wanted.ipAddresses.length);
        expect(isSignedBy(certificate, readCertificate(signer.certificatePem))).toBe(true);
        expect(certificate.serial).toMatch(/^[4-7][0-9A-F]{31}$/);
      }),
      { numRuns: 100 },
    );
  });
});

test('the same seed and moment give the same keys, names and serials; only the signatures differ', () => {
  const facts = (): unknown =>
    JSON.parse(JSON.stringify(samplePki('again')), (name, value: unknown) =>
      name === 'certificatePem' && typeof value === 'string'
        ? { ...readCertificate(value), pem: '', fingerprint: '' }
        : value,
    );
  expect(facts()).toEqual(facts());
});
