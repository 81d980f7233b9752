import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { samplePki } from '../../test/oracle/pki-sample.ts';
import { joinBundle, readBundle, readCertificate } from './certificate.ts';
import { pkiErrors } from './errors.ts';

const pki = samplePki('certificate');

test('every public root authority reads as Node reads it', () => {
  expect(rootCertificates.length).toBeGreaterThan(100);
  for (const pem of rootCertificates) {
    const theirs = new X509Certificate(pem);
    expect(readCertificate(pem)).toMatchObject({
      isCa: theirs.ca,
      serial: BigInt(`0x${theirs.serialNumber}`).toString(16).toUpperCase(),
      notBefore: theirs.validFromDate,
      notAfter: theirs.validToDate,
      fingerprint: theirs.fingerprint256.replaceAll(':', '').toLowerCase(),
      publicPem: theirs.publicKey.export({ type: 'spki', format: 'pem' }),
    });
  }
});

describe('a bundle', () => {
  test('holds each certificate once, in order, and reads through what else is in the file', () => {
    const [root, etcd] = [pki.signers['root-ca'].certificatePem, pki.signers['etcd-signer'].certificatePem];
    const key = pki.leaves.admin.key.privatePem.reveal();
    const bundle = joinBundle([`# ours\n${etcd}${key}${root}`, root, `\r\n${etcd.replaceAll('\n', '\r\n')}`]);
    expect(bundle).toBe(etcd + root);
    expect(readBundle(bundle).map(({ subject }) => subject.commonName)).toEqual(['etcd-signer', 'root-ca']);
  });

  test('with a broken block is refused as a whole', () => {
    const root = pki.signers['root-ca'].certificatePem;
    for (const broken of [root.slice(0, -20), root.replace('M', '*'), root.replace(/\n.{64}\n/, '\n')]) {
      expect(() => readBundle(root + broken)).toThrow(
        expect.objectContaining({ code: pkiErrors.CERTIFICATE_UNREADABLE.code }),
      );
    }
    expect(() => readCertificate('')).toThrow(expect.objectContaining({ code: pkiErrors.CERTIFICATE_UNREADABLE.code }));
  });
});
