// Reads the extensions that certificates carry and signing requests ask for (RFC 5280 §4.2).
import {
  bitStringOf,
  booleanOf,
  type DerNode,
  DerError,
  derTags,
  expectTag,
  integerOf,
  oidOf,
  readDer,
  sequenceOf,
} from './der.ts';
import { type ExtendedKeyUsage, extendedKeyUsageOids, type KeyUsage, keyUsageNames } from './oids.ts';

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

export function readExtensions(node: DerNode | undefined): Extension[] {
  return sequenceOf(node, 'extensions').map((extension) => {
    const [type, ...rest] = sequenceOf(extension, 'extension');
    const flag = rest[0]?.tag === derTags.boolean ? rest.shift() : undefined;
    const [value, ...surplus] = rest;
    if (surplus.length > 0) throw new DerError('an extension has parts after its value');
    return {
      oid: oidOf(type, 'extension type'),
      critical: flag !== undefined && booleanOf(flag, 'critical'),
      value: expectTag(value, derTags.octetString, 'extension value').content,
    };
  });
}

export function readKeyUsages(der: Uint8Array): KeyUsage[] {
  const { bytes, bits } = bitStringOf(readDer(der), 'keyUsage');
  if (bits > keyUsageNames.length) throw new DerError('keyUsage names usages that do not exist');
  return keyUsageNames.filter((_name, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

/** Known usages by name, unknown ones by number. */
export function readExtendedKeyUsages(der: Uint8Array): (ExtendedKeyUsage | (string & {}))[] {
  return sequenceOf(readDer(der), 'extendedKeyUsage').map((node) => {
    const oid = oidOf(node, 'extendedKeyUsage');
    return Object.entries(extendedKeyUsageOids).find(([, known]) => known === oid)?.[0] ?? oid;
  });
}

export function readBasicConstraints(der: Uint8Array): { isCa: boolean; pathLength: number | undefined } {
  const parts = sequenceOf(readDer(der), 'basicConstraints');
  const flag = parts[0]?.tag === derTags.boolean ? parts.shift() : undefined;
  const [limit, ...surplus] = parts;
  if (surplus.length > 0) throw new DerError('basicConstraints has too many parts');
  return {
    isCa: flag !== undefined && booleanOf(flag, 'cA'),
    pathLength: limit === undefined ? undefined : Number(integerOf(limit, 'pathLenConstraint')),
  };
}

/** The subject's key identifier, in hex. */
export function readSubjectKeyId(der: Uint8Array): string {
  return hex(expectTag(readDer(der), derTags.octetString, 'subjectKeyIdentifier').content);
}

/** The issuer's key identifier, in hex; undefined when the extension names the issuer otherwise. */
export function readAuthorityKeyId(der: Uint8Array): string | undefined {
  const keyId = sequenceOf(readDer(der), 'authorityKeyIdentifier').find((part) => part.tag === 0x80);
  return keyId === undefined ? undefined : hex(keyId.content);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
