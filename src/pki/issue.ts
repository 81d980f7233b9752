// Makes certificates: signers, which sign themselves or are signed by another signer, and leaves that a signer signs.
// What a leaf may do comes from its profile, never from a request. A leaf is only valid while its signer is valid.
import { createHash } from 'node:crypto';
import { canonicalAddress } from '../contract/addresses.ts';
import type { Random } from '../host/random.ts';
import { type Certificate, readCertificate, signerIdentity } from './certificate.ts';
import { bitStringOf, readDer, sequenceOf } from './der.ts';
import { pkiErrors } from './errors.ts';
import { generateKeyPair, type KeyPair, publicKeyDer } from './key.ts';
import type { Subject } from './names.ts';
import type { ExtendedKeyUsage } from './oids.ts';
import { pemOf } from './pem.ts';
import { type CertificateBody, writeCertificate } from './x509-writer.ts';

/** A certificate and its key. */
export interface Credential {
  readonly certificatePem: string;
  readonly key: KeyPair;
}

/** `server-and-client` is for etcd members: each dials its peers with the certificate it serves. */
export type Purpose = 'server' | 'client' | 'server-and-client';

export interface LeafContents {
  readonly subject: Subject;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly purpose: Purpose;
  readonly validityDays: number;
}

export interface IssueOptions {
  readonly random: Random;
  readonly now: Date;
  /**
   * How long before `now` validity begins, because clocks disagree. The default is one hour, and a tenth of the
   * validity where that is shorter.
   */
  readonly backdateMs?: number;
}

export const purposeUsages: Readonly<Record<Purpose, readonly ExtendedKeyUsage[]>> = {
  server: ['serverAuth'],
  client: ['clientAuth'],
  'server-and-client': ['serverAuth', 'clientAuth'],
};

const defaultBackdateMs = 3_600_000;
const dayMs = 86_400_000;

export interface SignerContents {
  readonly subject: Subject;
  readonly validityDays: number;
  /** How many signers may stand between it and a leaf. Default 0: it signs leaves only. */
  readonly pathLength?: number;
  /** What its leaves may be used for, whatever they say themselves. Default: anything. */
  readonly signsFor?: Purpose;
}

/** A fresh key and its CA certificate, which `parent` signs; without a parent, the key itself. */
export function issueSigner(contents: SignerContents, options: IssueOptions, parent?: Credential): Credential {
  const key = generateKeyPair(options.random);
  const keyId = keyIdOf(key.publicPem);
  const body: CertificateBody = {
    serial: serialFrom(options.random),
    subject: contents.subject,
    notBefore: startOf(contents.validityDays, options),
    notAfter: endOf(contents.validityDays, options),
    publicPem: key.publicPem,
    ca: { pathLength: contents.pathLength ?? 0 },
    keyUsages: ['keyCertSign', 'cRLSign'],
    extendedKeyUsages: contents.signsFor === undefined ? [] : purposeUsages[contents.signsFor],
    dnsNames: [],
    ipAddresses: [],
    subjectKeyId: keyId,
    authorityKeyId: keyId,
  };
  if (parent === undefined) return { certificatePem: write(body, key), key };
  return { certificatePem: write({ ...body, ...issuedBy(parent, body, options) }, parent.key), key };
}

/** What a certificate takes over from its signer. Its validity is clipped to that of the signer on both sides. */
function issuedBy(
  signer: Credential,
  wanted: Pick<CertificateBody, 'notBefore' | 'notAfter'>,
  { now }: IssueOptions,
): Required<Pick<CertificateBody, 'issuerDer' | 'notBefore' | 'notAfter' | 'authorityKeyId'>> {
  const issuer = usableSigner(signer, now);
  const { subjectDer, keyId } = signerIdentity(signer.certificatePem);
  return {
    issuerDer: subjectDer,
    notBefore: new Date(Math.max(wanted.notBefore.getTime(), issuer.notBefore.getTime())),
    notAfter: new Date(Math.min(wanted.notAfter.getTime(), issuer.notAfter.getTime())),
    authorityKeyId: keyId ?? keyIdOf(issuer.publicPem),
  };
}

/** A fresh key and the certificate that `signer` gives it. */
export function issueLeaf(contents: LeafContents, signer: Credential, options: IssueOptions): Credential {
  const key = generateKeyPair(options.random);
  return { certificatePem: certify(key.publicPem, { contents, signer, ...options }), key };
}

/**
 * The certificate that `signer` gives to a public key. Its validity is clipped to that of the signer on both sides:
 * some verifiers, and every reader, expect this. Signers are backdated too, so a leaf made at once keeps its full
 * backdate.
 */
export function certify(
  publicPem: string,
  options: IssueOptions & { readonly contents: LeafContents; readonly signer: Credential },
): string {
  const { contents, signer } = options;
  const { validityDays } = contents;
  const life = { notBefore: startOf(validityDays, options), notAfter: endOf(validityDays, options) };
  const body: CertificateBody = {
    ...issuedBy(signer, life, options),
    serial: serialFrom(options.random),
    subject: contents.subject,
    publicPem,
    ca: undefined,
    // An EC key signs handshakes and never enciphers keys: TLS needs digitalSignature only (RFC 8446 §4.4.2.2).
    keyUsages: ['digitalSignature'],
    extendedKeyUsages: purposeUsages[contents.purpose],
    dnsNames: [...new Set(contents.dnsNames.map(checkedDnsName))],
    ipAddresses: [...new Set(contents.ipAddresses.map(canonicalAddress))],
    subjectKeyId: keyIdOf(publicPem),
  };
  return write(body, signer.key);
}

function write(body: CertificateBody, signingKey: KeyPair): string {
  return pemOf('CERTIFICATE', writeCertificate(body, signingKey));
}

function usableSigner(signer: Credential, now: Date): Certificate {
  const certificate = readCertificate(signer.certificatePem);
  const name = certificate.subjectText;
  if (!certificate.isCa) {
    throw pkiErrors.NOT_A_SIGNER({ signer: name, reason: 'its certificate is not one of a CA' });
  }
  if (certificate.publicPem !== signer.key.publicPem) {
    throw pkiErrors.NOT_A_SIGNER({ signer: name, reason: 'its key belongs to another certificate' });
  }
  if (now >= certificate.notAfter) {
    throw pkiErrors.SIGNER_EXPIRED({ signer: name, notAfter: certificate.notAfter.toISOString() });
  }
  if (now < certificate.notBefore) {
    throw pkiErrors.SIGNER_NOT_YET_VALID({
      signer: name,
      notBefore: certificate.notBefore.toISOString(),
      now: now.toISOString(),
    });
  }
  return certificate;
}

/** A leaf for some minutes with a backdate of an hour would be due for renewal at the moment it is made. */
function startOf(validityDays: number, options: IssueOptions): Date {
  const backdateMs = options.backdateMs ?? Math.min(defaultBackdateMs, (validityDays * dayMs) / 10);
  return wholeSecond(options.now.getTime() - backdateMs);
}

function endOf(validityDays: number, options: IssueOptions): Date {
  if (!(validityDays > 0)) throw new RangeError(`a validity of ${validityDays} days`);
  return wholeSecond(options.now.getTime() + Math.round(validityDays * dayMs));
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}

/** 128 random bits with the top two set to 01: positive, of constant length, never zero (RFC 5280 §4.1.2.2). */
function serialFrom(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

/** SHA-1 of the public key's bits (RFC 5280 §4.2.1.2, method 1): a name for the key, not a protection. */
function keyIdOf(publicPem: string): Uint8Array {
  const [, bits] = sequenceOf(readDer(publicKeyDer(publicPem)), 'public key');
  return createHash('sha1').update(bitStringOf(bits, 'public key').bytes).digest();
}

/** Names come from checked configuration, so a name that no client could match is a bug. */
function checkedDnsName(name: string): string {
  if (!/^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/.test(name)) {
    throw new Error(`${JSON.stringify(name)} is not a DNS name in lower case`);
  }
  return name;
}
