import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { sampleContents, samplePki } from '../../test/oracle/pki-sample.ts';
import { canonicalAddress } from '../contract/addresses.ts';
import { joinBundle, readBundle, readCertificate } from './certificate.ts';
import { pkiErrors } from './errors.ts';

const pki = samplePki('certificate');
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('every public root authority is read as a CA, and written again as the same certificate', () => {
  expect(rootCertificates.length).toBeGreaterThan(100);
  for (const pem of rootCertificates) {
    const { isCa, fingerprint, pem: written, notBefore, notAfter, subjectText } = readCertificate(pem);
    expect({ isCa, fingerprint }).toEqual({ isCa: true, fingerprint: digest(new X509Certificate(pem).raw) });
    expect(written.replaceAll('\n', '')).toBe(pem.replaceAll('\n', ''));
    expect(notAfter.getTime()).toBeGreaterThan(notBefore.getTime());
    expect(subjectText).toMatch(/^[^\n]+$/);
  }
});

test('subject, names and usages are those of the leaf', () => {
  const contents = sampleContents('kubelet-serving');
  const { subject, subjectText, issuerText, dnsNames, ipAddresses, extendedKeyUsages } = readCertificate(
    pki.leaves['kubelet-serving'].certificatePem,
  );
  expect(subject).toEqual(contents.subject);
  expect(subjectText).toBe('O=system:nodes, CN=system:node:master-0');
  expect(issuerText).toBe('CN=kubelet-signer');
  expect(dnsNames).toEqual(contents.dnsNames);
  expect(ipAddresses).toEqual(contents.ipAddresses.map(canonicalAddress));
  expect(extendedKeyUsages).toEqual(['serverAuth']);
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

test('a process that reads a certificate before its first TLS connection can still open one', () => {
  const script = `
    const { readCertificate } = await import(${JSON.stringify(new URL('./certificate.ts', import.meta.url).href)});
    readCertificate(process.env.PEM);
    const { createSecureContext } = await import('node:tls');
    console.log(typeof createSecureContext);`;
  const PEM = pki.leaves['kubelet-serving'].certificatePem;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env: { PEM } });
  expect(printed.toString().trim()).toBe('function');
});
