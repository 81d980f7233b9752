// OpenSSL as the judge of everything src/pki makes: chains, purposes, names, usages, validity; and as the maker of
// signing requests that src/pki must read the same way.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { canonicalAddress } from '../../src/contract/addresses.ts';
import { joinBundle, readCertificate } from '../../src/pki/certificate.ts';
import { generateKeyPair } from '../../src/pki/key.ts';
import {
  type LeafName,
  leafProfiles,
  type SignerName,
  type SignerProfile,
  signerProfiles,
} from '../../src/pki/profiles.ts';
import { makeSigningRequest, readSigningRequest } from '../../src/pki/signing-request.ts';
import { type TrustBundleName, trustBundlePem, trustBundles } from '../../src/pki/trust-bundles.ts';
import { anchorOf, sampleContents, sampleFacts, sampleNow, samplePki, sampleRandom } from './pki-sample.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'firstlight-pki-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pki = samplePki('oracle');

function file(name: string, text: string): string {
  const where = path.join(folder, name);
  writeFileSync(where, text);
  return where;
}

function openssl(...args: readonly string[]): { ok: boolean; text: string } {
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return { ok: status === 0, text: stdout + stderr };
}

const epoch = (date: Date): string => String(Math.floor(date.getTime() / 1000));
const leafNames = Object.keys(leafProfiles) as LeafName[];
const signerNames = Object.keys(signerProfiles) as SignerName[];

function verifies(leafPem: string, caPem: string, ...more: readonly string[]): boolean {
  const ca = file('ca.crt', caPem);
  const leaf = file('leaf.crt', leafPem);
  // What the server sends besides its leaf is known and not trusted.
  return openssl('verify', '-x509_strict', '-CAfile', ca, '-untrusted', leaf, ...more, leaf).ok;
}

describe.each(leafNames)('OpenSSL and %s', (name) => {
  const profile = leafProfiles[name];
  const contents = sampleContents(name);
  const leaf = () => pki.leaves[name];
  const at = ['-attime', epoch(sampleNow)];

  test('agree on its chain and on exactly the usages we meant', () => {
    const signer = pki.signers[anchorOf(name)].certificatePem;
    const may = (purpose: string) => verifies(leaf().certificatePem, signer, ...at, '-purpose', purpose);
    expect(may('sslserver')).toBe(profile.purpose !== 'client');
    expect(may('sslclient')).toBe(profile.purpose !== 'server');
  });

  test('agree that no other signer made it', () => {
    const others = signerNames.filter((other) => other !== profile.signer && other !== anchorOf(name));
    const bundle = joinBundle(others.map((other) => pki.signers[other].certificatePem));
    expect(verifies(leaf().certificatePem, bundle, ...at)).toBe(false);
  });

  test('agree on the moments at which it is valid', () => {
    const certificate = readCertificate(leaf().certificatePem);
    const signer = pki.signers[anchorOf(name)].certificatePem;
    const { notBefore, notAfter } = certificate;
    const validAt = (date: Date) => verifies(leaf().certificatePem, signer, '-attime', epoch(date));
    expect(notBefore).toEqual(new Date(sampleNow.getTime() - 3_600_000));
    expect([-1000, 0].map((ms) => validAt(new Date(notBefore.getTime() + ms)))).toEqual([false, true]);
    expect([-1000, 1000].map((ms) => validAt(new Date(notAfter.getTime() + ms)))).toEqual([true, false]);
  });

  test('agree on subject, names, key usage and key', () => {
    const where = file('leaf.crt', leaf().certificatePem);
    const fields = ['-subject', '-nameopt', 'RFC2253', '-ext', 'keyUsage,subjectAltName', '-pubkey'];
    const { text } = openssl('x509', '-in', where, '-noout', ...fields);
    const organizations = contents.subject.organizations.map((value) => `,O=${value}`).join('');
    expect(text).toContain(`subject=CN=${contents.subject.commonName}${organizations}\n`);
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    const [, names = ''] = /Alternative Name: ?\s+(.*)/.exec(text) ?? [];
    const said = names
      .split(', ')
      .map((name) => name.replace(/IP Address:(.*)/, (_all, ip: string) => canonicalAddress(ip)));
    const meant = [...contents.dnsNames.map((name) => `DNS:${name}`), ...contents.ipAddresses.map(canonicalAddress)];
    expect(said).toEqual(meant.length === 0 ? [''] : [...new Set(meant)]);
    const fromKey = openssl('pkey', '-in', file('leaf.key', leaf().key.privatePem.reveal()), '-pubout').text;
    expect(text).toContain(fromKey);
  });
});

test.each(signerNames)(
  'OpenSSL reads %s as a CA that signs what its row says, and finds who vouches for it',
  (name) => {
    const { signedBy, pathLength = 0, signsFor }: SignerProfile = signerProfiles[name];
    const { certificatePem, key } = pki.signers[name];
    const where = file('signer.crt', certificatePem);
    const extensions = openssl(
      'x509',
      '-in',
      where,
      '-noout',
      '-ext',
      'basicConstraints,keyUsage,extendedKeyUsage',
    ).text;
    expect(extensions).toMatch(new RegExp(`Basic Constraints: critical\\s+CA:TRUE, pathlen:${pathLength}\n`));
    expect(extensions.includes('TLS Web Server Authentication')).toBe(signsFor === 'server');
    expect(extensions).not.toContain('TLS Web Client Authentication');
    expect(extensions).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign/);
    const vouching = signedBy === undefined ? certificatePem : pki.signers['root-ca'].certificatePem;
    expect(verifies(certificatePem, vouching, '-attime', epoch(sampleNow))).toBe(true);
    expect(openssl('pkey', '-in', file('signer.key', key.privatePem.reveal()), '-check', '-noout').ok).toBe(true);
  },
);

test.each(Object.keys(trustBundles) as TrustBundleName[])(
  'OpenSSL reads every certificate of the bundle %s',
  (name) => {
    const pems = Object.fromEntries(signerNames.map((signer) => [signer, pki.signers[signer].certificatePem]));
    const bundle = file('bundle.crt', trustBundlePem(name, pems as Record<SignerName, string>));
    const { text } = openssl('storeutl', '-noout', '-certs', bundle);
    expect(text).toContain(`Total found: ${trustBundles[name].signers.length}`);
  },
);

describe('signing requests', () => {
  test('that we make pass the check of OpenSSL', () => {
    const contents = sampleContents('kubelet-serving');
    const pem = makeSigningRequest(contents, generateKeyPair(sampleRandom('request')));
    const { ok, text } = openssl('req', '-in', file('ours.csr', pem), '-noout', '-verify', '-text');
    expect(ok && text).toContain('Certificate request self-signature verify OK');
    expect(text).toContain('Subject: O = system:nodes, CN = system:node:master-0');
    expect(text).toContain('DNS:master-0, IP Address:10.99.0.10, IP Address:FD00:99:0:0:0:0:0:10');
  });

  const made = (config: string, ...more: readonly string[]): string => {
    const where = file('req.cnf', `[req]\nprompt = no\nstring_mask = utf8only\n${config}`);
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      path.join(folder, 'r.key'),
    ];
    return execFileSync('openssl', ['req', '-new', '-config', where, ...key, ...more], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  };
  const node = 'distinguished_name = dn\n[dn]\nO = system:nodes\nCN = system:node:worker-0\n';
  const asking = (value: string): string => `req_extensions = ext\n${node}[ext]\n${value}\n`;

  test('that OpenSSL makes are read as meant', () => {
    expect(readSigningRequest(made(asking('subjectAltName = DNS:worker-0, IP:10.99.0.20, IP:fd00::20')))).toMatchObject(
      {
        subject: { commonName: 'system:node:worker-0', organizations: ['system:nodes'] },
        dnsNames: ['worker-0'],
        ipAddresses: ['10.99.0.20', 'fd00::20'],
        oddities: [],
      },
    );
  });

  test.each([
    ['an e-mail address', asking('subjectAltName = DNS:worker-0, email:a@b.test'), ['alternative-name']],
    ['a URI', asking('subjectAltName = DNS:worker-0, URI:spiffe://a/b'), ['alternative-name']],
    [
      'a user principal name',
      asking('subjectAltName = otherName:1.3.6.1.4.1.311.20.2.3;UTF8:a@b'),
      ['alternative-name'],
    ],
    ['a registered id', asking('subjectAltName = RID:1.2.3.4'), ['alternative-name']],
    ['the wish to be a CA', asking('basicConstraints = critical,CA:TRUE'), ['asks-for-ca']],
    ['an unknown extension', asking('1.2.3.4.5 = ASN1:UTF8String:x'), ['extension']],
    [
      'two common names',
      'distinguished_name = dn\n[dn]\n0.CN = system:node:a\n1.CN = system:admin\n',
      ['several-common-names'],
    ],
    ['two names in one RDN', 'distinguished_name = dn\n[dn]\nO = system:masters\n+CN = x\n', ['multi-valued-rdn']],
    ['a unit and a country', `${node}OU = x\nC = DE\n`, ['subject-attribute', 'subject-attribute']],
    ['a challenge password', `attributes = at\n${node}[at]\nchallengePassword = secret\n`, ['attribute']],
  ])('with %s are told apart', (_what, config, kinds) => {
    expect(readSigningRequest(made(config)).oddities.map(({ kind }) => kind)).toEqual(kinds);
  });

  test('are refused where OpenSSL refuses them: a subject exchanged after signing', () => {
    const genuine = made(node);
    const der = Buffer.from(genuine.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
    der.write('1', der.indexOf('worker-0') + 'worker-'.length);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(openssl('req', '-in', file('forged.csr', forged), '-noout', '-verify').text).toContain('verify failure');
    expect(() => readSigningRequest(forged)).toThrow(expect.objectContaining({ code: 'PKI_REQUEST_FORGED' }));
  });
});

test('every machine fact is in the certificate that its peers will check', () => {
  for (const name of ['etcd-peer', 'etcd-server', 'kube-apiserver', 'kubelet-serving'] as const) {
    const { dnsNames, ipAddresses } = readCertificate(pki.leaves[name].certificatePem);
    expect(dnsNames).toContain(sampleFacts.machine.name);
    expect(ipAddresses).toEqual(expect.arrayContaining([...sampleFacts.machine.addresses]));
  }
});
