// Finds what an honest signing request does not contain. The approver refuses a request with any oddity: a false
// finding costs a retry, a missing one may cost the cluster. When in doubt, report.
import { type DerNode, derTags } from './der.ts';
import type { Extension } from './extensions.ts';
import { type NameAttribute, nameText } from './names.ts';
import { attributeName, extensionOids, extensionRequestOid, nameOids } from './oids.ts';

export type OddityKind =
  | 'no-common-name'
  | 'several-common-names'
  | 'multi-valued-rdn'
  | 'subject-attribute'
  | 'string-type'
  | 'control-character'
  | 'attribute'
  | 'duplicate-attribute'
  | 'extension'
  | 'duplicate-extension'
  | 'alternative-name'
  | 'asks-for-ca'
  | 'weak-key';

/** Something an honest request does not contain. */
export interface Oddity {
  readonly kind: OddityKind;
  readonly detail: string;
}

export interface PublicKeyKind {
  readonly type: 'ec' | 'rsa' | 'ed25519';
  readonly bits: number;
}

export interface RequestAttribute {
  readonly oid: string;
  readonly values: readonly DerNode[];
}

export function subjectOddities(subject: readonly NameAttribute[]): Oddity[] {
  const commonNames = subject.filter(({ oid }) => oid === nameOids.commonName);
  const shared = subject.filter(({ rdn }, index) => subject.findIndex((other) => other.rdn === rdn) !== index);
  const expected: readonly string[] = Object.values(nameOids);
  return [
    ...(commonNames.length === 0 ? [oddity('no-common-name', 'the subject has no CN')] : []),
    ...(commonNames.length > 1 ? [oddity('several-common-names', nameText(commonNames))] : []),
    ...shared.map((attribute) => oddity('multi-valued-rdn', `${nameText([attribute])} shares its RDN`)),
    ...subject
      .filter(({ oid }) => !expected.includes(oid))
      .map((other) => oddity('subject-attribute', nameText([other]))),
    ...subject
      .filter(({ tag, text }) => text === undefined || (tag !== derTags.utf8String && tag !== derTags.printableString))
      .map((attribute) => oddity('string-type', `${nameText([attribute])} has string type ${attribute.tag}`)),
    ...subject
      .filter(({ text }) => text !== undefined && /[\p{C}\p{Zl}\p{Zp}]/u.test(text))
      .map(({ oid, text }) => oddity('control-character', `${attributeName(oid)}=${JSON.stringify(text)}`)),
  ];
}

export function attributeOddities(attributes: readonly RequestAttribute[]): Oddity[] {
  const oids = attributes.map(({ oid }) => oid);
  return [
    ...oids.filter((oid) => oid !== extensionRequestOid).map((oid) => oddity('attribute', `attribute ${oid}`)),
    ...repeats(oids).map((oid) => oddity('duplicate-attribute', `attribute ${oid} again`)),
    ...attributes
      .filter(({ values }) => values.length !== 1)
      .map(({ oid, values }) => oddity('duplicate-attribute', `attribute ${oid} has ${values.length} values`)),
  ];
}

export function extensionOddities(extensions: readonly Extension[]): Oddity[] {
  const oids = extensions.map(({ oid }) => oid);
  return [
    ...oids.filter((oid) => !requestable.includes(oid)).map((oid) => oddity('extension', `extension ${oid}`)),
    ...repeats(oids).map((oid) => oddity('duplicate-extension', `extension ${oid} again`)),
  ];
}

const requestable: readonly string[] = [
  extensionOids.subjectAltName,
  extensionOids.keyUsage,
  extensionOids.extendedKeyUsage,
  extensionOids.basicConstraints,
];

export function keyOddities({ type, bits }: PublicKeyKind): Oddity[] {
  const weak = type === 'rsa' ? bits < 2048 : bits < 256;
  return weak ? [oddity('weak-key', `${type} key of ${bits === 0 ? 'an unknown curve' : `${bits} bits`}`)] : [];
}

function repeats(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

export function oddity(kind: OddityKind, detail: string): Oddity {
  return { kind, detail };
}
