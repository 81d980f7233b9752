// Strict readers of the two kinds of names in a request: the distinguished name (RFC 5280 §4.1.2.4) and the alternative
// names (§4.2.1.6). They report every part; the caller decides what a strange part means.
import { isUtf8 } from 'node:buffer';
import ipaddr from 'ipaddr.js';
import { canonicalAddress } from '../contract/addresses.ts';
import { childrenOf, DerError, type DerNode, derTags, expectTag, oidOf, readDer, sequenceOf } from './der.ts';
import { attributeName, nameOids } from './oids.ts';

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** One attribute of a distinguished name, as it stands there. */
export interface NameAttribute {
  readonly oid: string;
  /** Attributes with the same number share one (multi-valued) RDN. */
  readonly rdn: number;
  /** Undefined when the value is no UTF8String, PrintableString or IA5String, or breaks the rules of its type. */
  readonly text: string | undefined;
  readonly tag: number;
  readonly raw: Uint8Array;
}

export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** Names of other kinds, and names that break the rules of their kind, in words. */
  readonly others: readonly string[];
}

export const noAlternativeNames: AlternativeNames = {
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
  others: [],
};

export function readName(node: DerNode | undefined, what: string): NameAttribute[] {
  return sequenceOf(node, what).flatMap((set, rdn) => {
    const attributes = childrenOf(expectTag(set, derTags.set, `${what}: RDN`));
    if (attributes.length === 0) throw new DerError(`${what} has an empty RDN`);
    return attributes.map((attribute) => {
      const [type, value, ...rest] = sequenceOf(attribute, `${what}: attribute`);
      if (value === undefined || rest.length > 0) throw new DerError(`${what}: attribute is not a pair`);
      return { oid: oidOf(type, `${what}: attribute type`), rdn, text: textOf(value), tag: value.tag, raw: value.raw };
    });
  });
}

/** Common name and organizations, as Go reads them: the last common name counts. */
export function subjectOf(attributes: readonly NameAttribute[]): Subject {
  const texts = (oid: string): string[] =>
    attributes.filter((attribute) => attribute.oid === oid).map((attribute) => attribute.text ?? hexOf(attribute.raw));
  return { commonName: texts(nameOids.commonName).at(-1) ?? '', organizations: texts(nameOids.organization) };
}

/** The name on one line, for messages: `CN=system:node:master-0, O=system:nodes`. */
export function nameText(attributes: readonly NameAttribute[]): string {
  return attributes
    .map((attribute) => `${attributeName(attribute.oid)}=${attribute.text ?? hexOf(attribute.raw)}`)
    .join(', ');
}

/** Reads the value of a subjectAltName extension. */
export function readAlternativeNames(der: Uint8Array): AlternativeNames {
  const names = {
    dnsNames: [] as string[],
    ipAddresses: [] as string[],
    emailAddresses: [] as string[],
    uris: [] as string[],
    others: [] as string[],
  };
  for (const name of sequenceOf(readDer(der), 'subjectAltName')) {
    const kind = generalNameKinds[name.tag] ?? 'unknown kind';
    const text = kind === 'ip' ? addressText(name.content) : ia5Text(name.content);
    if (text !== undefined && kind === 'dns') names.dnsNames.push(text);
    else if (text !== undefined && kind === 'ip') names.ipAddresses.push(text);
    else if (text !== undefined && kind === 'email') names.emailAddresses.push(text);
    else if (text !== undefined && kind === 'uri') names.uris.push(text);
    else names.others.push(`${kind} ${hexOf(name.raw)}`);
  }
  return names;
}

const generalNameKinds: Readonly<Record<number, string>> = {
  0xa0: 'otherName',
  0x81: 'email',
  0x82: 'dns',
  0xa3: 'x400Address',
  0xa4: 'directoryName',
  0xa5: 'ediPartyName',
  0x86: 'uri',
  0x87: 'ip',
  0x88: 'registeredId',
};

function textOf(node: DerNode): string | undefined {
  if (node.tag === derTags.utf8String) return isUtf8(node.content) ? decode(node.content) : undefined;
  if (node.tag === derTags.ia5String) return ia5Text(node.content);
  if (node.tag !== derTags.printableString) return undefined;
  const text = decode(node.content);
  // `*`, `&`, `@` and `_` are not in the alphabet, but Go reads the first two; no honest request needs them.
  return /^[A-Za-z0-9 '()+,./:=?-]*$/.test(text) ? text : undefined;
}

function ia5Text(bytes: Uint8Array): string | undefined {
  return bytes.every((octet) => octet > 0x1f && octet < 0x7f) ? decode(bytes) : undefined;
}

/**
 * Undefined also for an IPv4 address in the 16 octets of IPv6: Go reads it and signs the four octets, so that it would
 * be another name in the certificate than in the request.
 */
function addressText(bytes: Uint8Array): string | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  const address = ipaddr.fromByteArray([...bytes]);
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()) return undefined;
  return canonicalAddress(address.toString());
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

function hexOf(bytes: Uint8Array): string {
  return `#${Buffer.from(bytes).toString('hex')}`;
}
