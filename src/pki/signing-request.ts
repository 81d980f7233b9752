// Reads certificate signing requests (PKCS#10, RFC 2986) from untrusted machines, for the approver.
// A value of type SigningRequest is strict DER and signed by the key it names; `oddities` holds everything that an
// honest request does not contain. Approve none with oddities, and never copy from a request into a certificate.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  bitStringOf,
  childrenOf,
  DerError,
  type DerNode,
  derTags,
  integerOf,
  oidOf,
  readDer,
  sequenceOf,
} from './der.ts';
import { pkiErrors } from './errors.ts';
import {
  type Extension,
  readBasicConstraints,
  readExtendedKeyUsages,
  readExtensions,
  readKeyUsages,
} from './extensions.ts';
import type { KeyPair } from './key.ts';
import {
  type AlternativeNames,
  nameText,
  noAlternativeNames,
  readAlternativeNames,
  readName,
  type Subject,
  subjectOf,
} from './names.ts';
import { extensionOids, extensionRequestOid, type KeyUsage } from './oids.ts';
import { pemBlocks, pemOf } from './pem.ts';
import {
  attributeOddities,
  extensionOddities,
  keyOddities,
  type Oddity,
  oddity,
  type PublicKeyKind,
  type RequestAttribute,
  subjectOddities,
} from './request-oddities.ts';
import { type RequestBody, writeSigningRequest } from './x509-writer.ts';

export interface SigningRequest extends AlternativeNames {
  readonly subject: Subject;
  readonly subjectText: string;
  readonly publicPem: string;
  readonly publicKey: PublicKeyKind;
  /** The usages that the request asks for; they decide nothing. */
  readonly keyUsages: readonly KeyUsage[];
  readonly extendedKeyUsages: readonly string[];
  /** Numbers of all extensions asked for, in order, repeats included. */
  readonly requestedExtensions: readonly string[];
  readonly oddities: readonly Oddity[];
}

/** A kubelet's request has under 1000 characters. */
const requestLengthMax = 65_536;

/** Throws PKI_REQUEST_UNREADABLE for anything but one strict request, PKI_REQUEST_FORGED for a wrong signature. */
export function readSigningRequest(pem: string): SigningRequest {
  try {
    return readRequest(onlyBlock(pem));
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
    throw pkiErrors.REQUEST_UNREADABLE({ reason: cause.message }, { cause });
  }
}

/** The PEM of a request for `key`. */
export function makeSigningRequest(wanted: RequestBody, key: KeyPair): string {
  return pemOf('CERTIFICATE REQUEST', writeSigningRequest(wanted, key));
}

function onlyBlock(pem: string): Uint8Array {
  if (pem.length > requestLengthMax) throw new DerError(`it is longer than ${requestLengthMax} characters`);
  const blocks = pemBlocks(pem);
  const [block] = blocks ?? [];
  if (block === undefined || blocks?.length !== 1) throw new DerError('it is not exactly one PEM block');
  if (block.label !== 'CERTIFICATE REQUEST') throw new DerError(`it is a ${block.label}`);
  return block.der;
}

function readRequest(der: Uint8Array): SigningRequest {
  const [info, algorithm, signature, ...surplus] = sequenceOf(readDer(der), 'request');
  const [version, subjectNode, keyNode, attributesNode, ...rest] = sequenceOf(info, 'request body');
  if (info === undefined || surplus.length > 0 || rest.length > 0) throw new DerError('the request has too many parts');
  if (integerOf(version, 'version') !== 0n) throw new DerError('the version is not 1');
  const subject = readName(subjectNode, 'subject');
  const key = readPublicKey(keyNode);
  const kind = kindOf(key);
  const proof = bitStringOf(signature, 'signature');
  if (proof.bits % 8 !== 0) throw new DerError('the signature is not made of whole octets');
  if (!verify(digestName(algorithm, kind), info.raw, key, proof.bytes)) {
    throw pkiErrors.REQUEST_FORGED({ subject: nameText(subject) });
  }
  const attributes = readAttributes(attributesNode);
  const asked = attributes.filter(({ oid }) => oid === extensionRequestOid);
  const extensions = asked.flatMap(({ values }) => values.flatMap((value) => readExtensions(value)));
  const wishes = readWishes(extensions);
  return {
    subject: subjectOf(subject),
    subjectText: nameText(subject),
    publicPem: key.export({ type: 'spki', format: 'pem' }).toString(),
    publicKey: kind,
    ...wishes.names,
    keyUsages: wishes.keyUsages,
    extendedKeyUsages: wishes.extendedKeyUsages,
    requestedExtensions: extensions.map(({ oid }) => oid),
    oddities: [
      ...subjectOddities(subject),
      ...attributeOddities(attributes),
      ...extensionOddities(extensions),
      ...wishes.oddities,
      ...keyOddities(kind),
    ],
  };
}

function readPublicKey(node: DerNode | undefined): KeyObject {
  sequenceOf(node, 'public key');
  try {
    return createPublicKey({ key: Buffer.from(node?.raw ?? []), type: 'spki', format: 'der' });
  } catch (cause) {
    throw new DerError('its public key is of no known kind', { cause });
  }
}

function kindOf(key: KeyObject): PublicKeyKind {
  const type = key.asymmetricKeyType;
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (type === 'rsa') return { type, bits: modulusLength };
  if (type === 'ed25519') return { type, bits: 256 };
  if (type === 'ec') return { type, bits: curveBits[namedCurve] ?? 0 };
  throw new DerError(`its public key is of the kind ${type}`);
}

/** The NIST curves, the only ones that Go's TLS supports. */
const curveBits: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/** The digest and the kind of key of each accepted signature algorithm. SHA-1 and older are refused. */
const signatureAlgorithms: Readonly<Record<string, { digest: string | null; key: PublicKeyKind['type'] }>> = {
  '1.2.840.10045.4.3.2': { digest: 'sha256', key: 'ec' },
  '1.2.840.10045.4.3.3': { digest: 'sha384', key: 'ec' },
  '1.2.840.10045.4.3.4': { digest: 'sha512', key: 'ec' },
  '1.2.840.113549.1.1.11': { digest: 'sha256', key: 'rsa' },
  '1.2.840.113549.1.1.12': { digest: 'sha384', key: 'rsa' },
  '1.2.840.113549.1.1.13': { digest: 'sha512', key: 'rsa' },
  '1.3.101.112': { digest: null, key: 'ed25519' },
};

function digestName(algorithm: DerNode | undefined, kind: PublicKeyKind): string | null {
  const oid = oidOf(sequenceOf(algorithm, 'signature algorithm')[0], 'signature algorithm');
  const known = signatureAlgorithms[oid];
  if (known === undefined) throw new DerError(`the signature algorithm ${oid} is not accepted`);
  if (known.key !== kind.type) throw new DerError(`the signature algorithm ${oid} is not one for its ${kind.type} key`);
  return known.digest;
}

function readAttributes(node: DerNode | undefined): RequestAttribute[] {
  if (node === undefined) return [];
  if (node.tag !== 0xa0) throw new DerError('the attributes have a wrong tag');
  return childrenOf(node).map((attribute) => {
    const [type, values, ...surplus] = sequenceOf(attribute, 'attribute');
    if (values?.tag !== derTags.set || surplus.length > 0) throw new DerError('an attribute is not a type with a set');
    return { oid: oidOf(type, 'attribute type'), values: childrenOf(values) };
  });
}

function readWishes(extensions: readonly Extension[]) {
  const all = <T>(oid: string, reader: (der: Uint8Array) => T): T[] =>
    extensions.filter((extension) => extension.oid === oid).map((extension) => reader(extension.value));
  const names = all(extensionOids.subjectAltName, readAlternativeNames);
  const oddities: Oddity[] = [
    ...names
      .flatMap(({ others, emailAddresses, uris }) => [...others, ...emailAddresses, ...uris])
      .map((detail) => oddity('alternative-name', detail)),
    ...names.filter(isEmpty).map(() => oddity('alternative-name', 'an empty list of alternative names')),
    ...all(extensionOids.basicConstraints, readBasicConstraints)
      .filter(({ isCa }) => isCa)
      .map(() => oddity('asks-for-ca', 'asks to become a CA')),
  ];
  return {
    names: names.reduce(joinNames, noAlternativeNames),
    keyUsages: all(extensionOids.keyUsage, readKeyUsages).flat(),
    extendedKeyUsages: all(extensionOids.extendedKeyUsage, readExtendedKeyUsages).flat(),
    oddities,
  };
}

function joinNames(a: AlternativeNames, b: AlternativeNames): AlternativeNames {
  return {
    dnsNames: [...a.dnsNames, ...b.dnsNames],
    ipAddresses: [...a.ipAddresses, ...b.ipAddresses],
    emailAddresses: [...a.emailAddresses, ...b.emailAddresses],
    uris: [...a.uris, ...b.uris],
    others: [...a.others, ...b.others],
  };
}

function isEmpty(names: AlternativeNames): boolean {
  return Object.values(names).every((list: readonly string[]) => list.length === 0);
}
