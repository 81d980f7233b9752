// A certificate as plain data, read from PEM by Node's X509Certificate, and bundles of them.
// Read from the DER: the bytes of the subject and the key identifier, which Node does not give, and the names, because
// toLegacyObject() before the first import of node:tls leaves that module without createSecureContext (Node 26.10).
import { X509Certificate } from 'node:crypto';
import { canonicalAddress } from '../contract/addresses.ts';
import { childrenOf, DerError, type DerNode, readDer, sequenceOf } from './der.ts';
import { pkiErrors } from './errors.ts';
import { readBasicConstraints, readExtensions, readSubjectKeyId } from './extensions.ts';
import { type AlternativeNames, nameText, readName, type Subject, subjectOf } from './names.ts';
import { type ExtendedKeyUsage, extendedKeyUsageName, extensionOids } from './oids.ts';
import { pemBlocks, pemOf } from './pem.ts';

export interface Certificate extends Pick<AlternativeNames, 'dnsNames' | 'ipAddresses'> {
  /** This one certificate, as we write PEM. */
  readonly pem: string;
  readonly subject: Subject;
  /** The whole subject on one line, for messages. */
  readonly subjectText: string;
  readonly issuer: Subject;
  readonly issuerText: string;
  /** Hex, as openssl prints it. */
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** A CA that may sign certificates: the key usages, if there are any, allow it. */
  readonly isCa: boolean;
  /** Usages that we do not name appear by number. */
  readonly extendedKeyUsages: readonly (ExtendedKeyUsage | (string & {}))[];
  /** SHA-256 of the DER, hex. */
  readonly fingerprint: string;
  readonly publicPem: string;
}

/** Reads the first certificate of `pem`: in a chain file that is the leaf. Throws PKI_CERTIFICATE_UNREADABLE. */
export function readCertificate(pem: string): Certificate {
  const [first] = readBundle(pem);
  if (first === undefined) throw noCertificate();
  return first;
}

/** Every certificate of `pem`, in order. Blocks of other kinds (a key beside its certificate) are passed over. */
export function readBundle(pem: string): Certificate[] {
  return certificateBlocks(pem).map((der) => readCertificateDer(der));
}

/** One file of all certificates in `pems`, each once, in order of first appearance. */
export function joinBundle(pems: readonly string[]): string {
  const certificates = pems.flatMap((pem) => readBundle(pem));
  const byFingerprint = new Map(certificates.map((certificate) => [certificate.fingerprint, certificate.pem]));
  return [...byFingerprint.values()].join('');
}

/** What a leaf repeats of its signer, octet by octet: its subject, and its key identifier where it has one. */
export interface SignerIdentity {
  readonly subjectDer: Uint8Array;
  readonly keyId?: Uint8Array;
  /** How many other signers may stand below it; undefined where it does not say. */
  readonly pathLength?: number;
}

export function signerIdentity(pem: string): SignerIdentity {
  const [der] = certificateBlocks(pem);
  if (der === undefined) throw noCertificate();
  try {
    const { subject, extensions } = partsOf(der);
    if (subject === undefined || extensions === undefined) throw new DerError('it has no subject or no extensions');
    const values = new Map(readExtensions(extensions).map(({ oid, value }) => [oid, value]));
    const keyId = values.get(extensionOids.subjectKeyIdentifier);
    const constraints = values.get(extensionOids.basicConstraints);
    const pathLength = constraints && readBasicConstraints(constraints).pathLength;
    return {
      subjectDer: subject.raw,
      ...(keyId === undefined ? {} : { keyId: readSubjectKeyId(keyId) }),
      ...(pathLength === undefined ? {} : { pathLength }),
    };
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
    throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: cause.message }, { cause });
  }
}

function certificateBlocks(pem: string): readonly Uint8Array[] {
  const blocks = pemBlocks(pem);
  if (blocks === undefined) throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'a PEM block is cut off or not base64' });
  return blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ der }) => der);
}

function noCertificate(): Error {
  return pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'there is no BEGIN CERTIFICATE in it' });
}

function readCertificateDer(der: Uint8Array): Certificate {
  try {
    const read = new X509Certificate(der);
    const parts = partsOf(der);
    const [subject, issuer] = [readName(parts.subject, 'subject'), readName(parts.issuer, 'issuer')];
    // The type says that there always are key usages; a certificate without the extension has none.
    const usages: readonly string[] | undefined = read.keyUsage;
    return {
      pem: pemOf('CERTIFICATE', read.raw),
      subject: subjectOf(subject),
      subjectText: nameText(subject),
      issuer: subjectOf(issuer),
      issuerText: nameText(issuer),
      serial: read.serialNumber,
      notBefore: read.validFromDate,
      notAfter: read.validToDate,
      isCa: read.ca,
      ...alternativeNames(read.subjectAltName ?? ''),
      extendedKeyUsages: (usages ?? []).map(extendedKeyUsageName),
      fingerprint: read.fingerprint256.replaceAll(':', '').toLowerCase(),
      publicPem: read.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    };
  } catch (cause) {
    throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'a CERTIFICATE block does not hold a certificate' }, { cause });
  }
}

/** Node writes `DNS:a, IP Address:10.0.0.1`, and puts a name that could be taken for two into JSON quotes. */
function alternativeNames(text: string): Pick<Certificate, 'dnsNames' | 'ipAddresses'> {
  const names = [...text.matchAll(/(?:^|, )([^:]+):("(?:[^"\\]|\\.)*"|[^,]*)/gy)];
  const ofKind = (kind: string): readonly string[] =>
    names.filter((name) => name[1] === kind).map(([, , value = '']) => value);
  return { dnsNames: ofKind('DNS'), ipAddresses: ofKind('IP Address').map(canonicalAddress) };
}

interface CertificateParts {
  readonly issuer: DerNode | undefined;
  readonly subject: DerNode | undefined;
  readonly extensions: DerNode | undefined;
}

/** The parts of TBSCertificate (RFC 5280 §4.1) that we read. */
function partsOf(der: Uint8Array): CertificateParts {
  const [body] = sequenceOf(readDer(der), 'certificate');
  const parts = sequenceOf(body, 'tbsCertificate');
  const [, , issuer, , subject] = parts[0]?.tag === 0xa0 ? parts.slice(1) : parts;
  const explicit = parts.find((part) => part.tag === 0xa3);
  return { issuer, subject, extensions: explicit && childrenOf(explicit)[0] };
}
