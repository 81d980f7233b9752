// A certificate as plain data, read from PEM, and bundles of them.
import { createHash } from 'node:crypto';
import { childrenOf, DerError, derTags, expectTag, integerOf, readDer, sequenceOf, timeOf } from './der.ts';
import { pkiErrors } from './errors.ts';
import {
  type Extension,
  readAuthorityKeyId,
  readBasicConstraints,
  readExtendedKeyUsages,
  readExtensions,
  readKeyUsages,
  readSubjectKeyId,
} from './extensions.ts';
import {
  type AlternativeNames,
  nameText,
  noAlternativeNames,
  readAlternativeNames,
  readName,
  subjectOf,
} from './names.ts';
import type { Subject } from './names.ts';
import { extensionOids, type ExtendedKeyUsage, type KeyUsage } from './oids.ts';
import { pemBlocks, pemOf } from './pem.ts';

export interface Certificate extends AlternativeNames {
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
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
  readonly keyUsages: readonly KeyUsage[];
  /** Usages that we do not name appear by number. */
  readonly extendedKeyUsages: readonly (ExtendedKeyUsage | (string & {}))[];
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
  /** SHA-256 of the DER, hex. */
  readonly fingerprint: string;
  readonly publicPem: string;
}

/** Reads the first certificate of `pem`: in a chain file that is the leaf. Throws PKI_CERTIFICATE_UNREADABLE. */
export function readCertificate(pem: string): Certificate {
  const [first] = readBundle(pem);
  if (first === undefined) throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'there is no BEGIN CERTIFICATE in it' });
  return first;
}

/** Every certificate of `pem`, in order. Blocks of other kinds (a key beside its certificate) are passed over. */
export function readBundle(pem: string): Certificate[] {
  const blocks = pemBlocks(pem);
  if (blocks === undefined) throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'a PEM block is cut off or not base64' });
  return blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ der }) => readCertificateDer(der));
}

/** One file of all certificates in `pems`, each once, in order of first appearance. */
export function joinBundle(pems: readonly string[]): string {
  const certificates = pems.flatMap((pem) => readBundle(pem));
  const byFingerprint = new Map(certificates.map((certificate) => [certificate.fingerprint, certificate.pem]));
  return [...byFingerprint.values()].join('');
}

/** The DER of the subject inside a certificate: an issuer must be named by exactly these bytes. */
export function subjectDer(pem: string): Uint8Array {
  const block = pemBlocks(pem)?.find(({ label }) => label === 'CERTIFICATE');
  const subject = block === undefined ? undefined : bodyOf(block.der).subject;
  if (subject === undefined) throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: 'it has no subject' });
  return subject.raw;
}

function readCertificateDer(der: Uint8Array): Certificate {
  try {
    const { serial, issuer, validity, subject, publicKey, extensions } = bodyOf(der);
    const [notBefore, notAfter] = sequenceOf(validity, 'validity');
    const issuerName = readName(issuer, 'issuer');
    const subjectName = readName(subject, 'subject');
    return {
      pem: pemOf('CERTIFICATE', der),
      subject: subjectOf(subjectName),
      subjectText: nameText(subjectName),
      issuer: subjectOf(issuerName),
      issuerText: nameText(issuerName),
      serial: integerOf(serial, 'serial number').toString(16).toUpperCase(),
      notBefore: timeOf(notBefore, 'notBefore'),
      notAfter: timeOf(notAfter, 'notAfter'),
      ...extensionFields(extensions),
      fingerprint: createHash('sha256').update(der).digest('hex'),
      publicPem: pemOf('PUBLIC KEY', expectTag(publicKey, derTags.sequence, 'public key').raw),
    };
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
    throw pkiErrors.CERTIFICATE_UNREADABLE({ reason: cause.message }, { cause });
  }
}

function extensionFields(extensions: readonly Extension[]) {
  const read = <T>(oid: string, reader: (der: Uint8Array) => T): T | undefined => {
    const found = extensions.find((extension) => extension.oid === oid);
    return found === undefined ? undefined : reader(found.value);
  };
  const constraints = read(extensionOids.basicConstraints, readBasicConstraints);
  return {
    ...(read(extensionOids.subjectAltName, readAlternativeNames) ?? noAlternativeNames),
    isCa: constraints?.isCa ?? false,
    pathLength: constraints?.pathLength,
    keyUsages: read(extensionOids.keyUsage, readKeyUsages) ?? [],
    extendedKeyUsages: read(extensionOids.extendedKeyUsage, readExtendedKeyUsages) ?? [],
    subjectKeyId: read(extensionOids.subjectKeyIdentifier, readSubjectKeyId),
    authorityKeyId: read(extensionOids.authorityKeyIdentifier, readAuthorityKeyId),
  };
}

/** The parts of TBSCertificate (RFC 5280 §4.1) that we read. */
function bodyOf(der: Uint8Array) {
  const [body] = sequenceOf(readDer(der), 'certificate');
  const parts = sequenceOf(body, 'tbsCertificate');
  const versioned = parts[0]?.tag === 0xa0 ? parts.slice(1) : parts;
  const [serial, , issuer, validity, subject, publicKey] = versioned;
  const explicit = versioned.find((part) => part.tag === 0xa3);
  const extensions = explicit === undefined ? [] : readExtensions(childrenOf(explicit)[0]);
  return { serial, issuer, validity, subject, publicKey, extensions };
}
