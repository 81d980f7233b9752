// The one file that loads the X.509 library, which costs as much as the rest of a command: import it lazily.
// It turns plain values into DER; what belongs into a certificate is decided by its callers.
import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonNameParams,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type KeyPair, publicKeyDer, signWith } from './key.ts';
import type { Subject } from './names.ts';
import { type ExtendedKeyUsage, extendedKeyUsageOids, type KeyUsage } from './oids.ts';

export interface ExtensionValues {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly keyUsages: readonly KeyUsage[];
  readonly extendedKeyUsages: readonly ExtendedKeyUsage[];
}

export interface CertificateBody extends ExtensionValues {
  /** Hex. */
  readonly serial: string;
  readonly subject: Subject;
  /** DER of the issuer's subject; absent for a self-signed certificate. */
  readonly issuerDer?: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicPem: string;
  readonly ca: { readonly pathLength: number } | undefined;
  readonly subjectKeyId: string;
  readonly authorityKeyId: string;
}

export async function writeCertificate(body: CertificateBody, signingKey: KeyPair): Promise<Uint8Array> {
  const subject = nameOf(body.subject);
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: body.serial,
      subject,
      issuer: body.issuerDer === undefined ? subject : new Name(new Uint8Array(body.issuerDer)),
      notBefore: body.notBefore,
      notAfter: body.notAfter,
      publicKey: new Uint8Array(publicKeyDer(body.publicPem)),
      signingKey: privateHandle,
      extensions: [
        ...(body.ca === undefined
          ? [new BasicConstraintsExtension(false, undefined, true)]
          : [new BasicConstraintsExtension(true, body.ca.pathLength, true)]),
        ...commonExtensions(body),
        new SubjectKeyIdentifierExtension(body.subjectKeyId),
        new AuthorityKeyIdentifierExtension(body.authorityKeyId),
      ],
    },
    cryptoOf(signingKey),
  );
  return new Uint8Array(certificate.rawData);
}

export async function writeSigningRequest(
  subject: Subject,
  extensions: ExtensionValues,
  key: KeyPair,
): Promise<Uint8Array> {
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: nameOf(subject),
      keys: { privateKey: privateHandle, publicKey: privateHandle },
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      extensions: commonExtensions(extensions),
    },
    cryptoOf(key),
  );
  return new Uint8Array(request.rawData);
}

function commonExtensions(values: ExtensionValues): Extension[] {
  const names = [
    ...values.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...values.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const usages = values.extendedKeyUsages.map((usage) => extendedKeyUsageOids[usage]);
  return [
    ...(values.keyUsages.length === 0 ? [] : [new KeyUsagesExtension(usageFlags(values.keyUsages), true)]),
    ...(usages.length === 0 ? [] : [new ExtendedKeyUsageExtension(usages)]),
    ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
  ];
}

function usageFlags(usages: readonly KeyUsage[]): KeyUsageFlags {
  const flags = usages.map((usage) => KeyUsageFlags[usage === 'contentCommitment' ? 'nonRepudiation' : usage]);
  return flags.reduce((sum, flag) => (sum | flag) as KeyUsageFlags);
}

/** One RDN per value, always UTF8String: the library unescapes plain strings, and `#` or a backslash would change them. */
function nameOf(subject: Subject): Name {
  const attribute = (type: string, utf8String: string) => ({ [type]: [{ utf8String }] });
  const rdns: JsonNameParams = [
    ...subject.organizations.map((value) => attribute('O', value)),
    attribute('CN', subject.commonName),
  ];
  return new Name(rdns);
}

// The library asks a WebCrypto provider to sign. Ours signs deterministically with the key it was made for, so the key
// handle that the library passes around carries nothing but the algorithm.
const privateHandle = {
  type: 'private',
  extractable: false,
  usages: ['sign'],
  algorithm: { name: 'ECDSA', namedCurve: 'P-256' },
} as unknown as CryptoKey;

function cryptoOf(key: KeyPair): Crypto {
  const subtle = {
    sign: async (_algorithm: unknown, _key: unknown, message: ArrayBuffer) =>
      arrayBufferOf(signWith(key, new Uint8Array(message))),
    exportKey: async () => arrayBufferOf(publicKeyDer(key.publicPem)),
  };
  return { subtle } as unknown as Crypto;
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
