// Turns plain values into a signed certificate (RFC 5280 §4.1) or signing request (RFC 2986), as DER.
// The callers decide the contents; OpenSSL and Go check the octets in test/oracle/.
import ipaddr from 'ipaddr.js';
import * as der from './der-writer.ts';
import { type KeyPair, publicKeyDer, signWith } from './key.ts';
import type { Subject } from './names.ts';
import {
  type ExtendedKeyUsage,
  ecdsaWithSha256Oid,
  extendedKeyUsageOids,
  extensionOids,
  extensionRequestOid,
  type KeyUsage,
  keyUsageNames,
  nameOids,
} from './oids.ts';

export interface CertificateBody {
  /** Positive, in hex. */
  readonly serial: string;
  readonly subject: Subject;
  /** DER of the issuer's subject; absent for a self-signed certificate. */
  readonly issuerDer?: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicPem: string;
  readonly ca: { readonly pathLength: number } | undefined;
  readonly keyUsages: readonly KeyUsage[];
  readonly extendedKeyUsages: readonly ExtendedKeyUsage[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly subjectKeyId: Uint8Array;
  readonly authorityKeyId: Uint8Array;
}

export function writeCertificate(body: CertificateBody, signingKey: KeyPair): Uint8Array {
  const subject = nameDer(body.subject);
  const version3 = der.tlv(0xa0, der.integer(Buffer.of(2)));
  const signed = der.sequence(
    version3,
    der.integer(Buffer.from(body.serial, 'hex')),
    signatureAlgorithm,
    body.issuerDer ?? subject,
    der.sequence(der.time(body.notBefore), der.time(body.notAfter)),
    subject,
    publicKeyDer(body.publicPem),
    der.tlv(0xa3, der.sequence(...certificateExtensions(body))),
  );
  return sealed(signed, signingKey);
}

export interface RequestBody {
  readonly subject: Subject;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export function writeSigningRequest(body: RequestBody, key: KeyPair): Uint8Array {
  const names = alternativeNames(body);
  const asked = names.map((name) => der.sequence(der.oid(extensionRequestOid), der.set(der.sequence(name))));
  const version1 = der.integer(Buffer.of(0));
  const attributes = der.tlv(0xa0, ...asked);
  return sealed(der.sequence(version1, nameDer(body.subject), publicKeyDer(key.publicPem), attributes), key);
}

const signatureAlgorithm = der.sequence(der.oid(ecdsaWithSha256Oid));

/** The three parts that certificates and requests share: what is signed, how, and the signature. */
function sealed(signed: Uint8Array, key: KeyPair): Uint8Array {
  return der.sequence(signed, signatureAlgorithm, der.bitString(signWith(key, signed)));
}

function certificateExtensions(body: CertificateBody): Uint8Array[] {
  const isCa = body.ca === undefined ? [] : [der.booleanTrue, der.integer(Buffer.of(body.ca.pathLength))];
  const usages = body.extendedKeyUsages.map((usage) => der.oid(extendedKeyUsageOids[usage]));
  return [
    extension(extensionOids.basicConstraints, 'critical', der.sequence(...isCa)),
    extension(extensionOids.keyUsage, 'critical', keyUsageBits(body.keyUsages)),
    ...(usages.length === 0 ? [] : [extension(extensionOids.extendedKeyUsage, 'plain', der.sequence(...usages))]),
    ...alternativeNames(body),
    extension(extensionOids.subjectKeyIdentifier, 'plain', der.octetString(body.subjectKeyId)),
    extension(extensionOids.authorityKeyIdentifier, 'plain', der.sequence(der.tlv(0x80, body.authorityKeyId))),
  ];
}

/** The subjectAltName extension, or none where there are no names. */
function alternativeNames({ dnsNames, ipAddresses }: Pick<RequestBody, 'dnsNames' | 'ipAddresses'>): Uint8Array[] {
  const names = [
    ...dnsNames.map((name) => der.tlv(0x82, Buffer.from(name, 'ascii'))),
    ...ipAddresses.map((address) => der.tlv(0x87, Buffer.from(ipaddr.parse(address).toByteArray()))),
  ];
  return names.length === 0 ? [] : [extension(extensionOids.subjectAltName, 'plain', der.sequence(...names))];
}

function extension(oid: string, weight: 'critical' | 'plain', value: Uint8Array): Uint8Array {
  return der.sequence(der.oid(oid), ...(weight === 'critical' ? [der.booleanTrue] : []), der.octetString(value));
}

function keyUsageBits(usages: readonly KeyUsage[]): Uint8Array {
  return der.namedBits(usages.map((usage) => keyUsageNames.indexOf(usage)));
}

/** One RDN per value: a set with several would be legal, but readers disagree about its order. */
function nameDer({ commonName, organizations }: Subject): Uint8Array {
  const rdn = (oid: string, text: string): Uint8Array => der.set(der.sequence(der.oid(oid), der.utf8String(text)));
  return der.sequence(
    ...organizations.map((organization) => rdn(nameOids.organization, organization)),
    rdn(nameOids.commonName, commonName),
  );
}
