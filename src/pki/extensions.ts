// Strict readers of the extensions that signing requests ask for and certificates carry (RFC 5280 §4.2).
import {
  bitStringOf,
  booleanOf,
  DerError,
  type DerNode,
  derTags,
  expectTag,
  integerOf,
  oidOf,
  readDer,
  sequenceOf,
} from './der.ts';
import { type ExtendedKeyUsage, extendedKeyUsageName, type KeyUsage, keyUsageNames } from './oids.ts';

export interface Extension {
  readonly oid: string;
  readonly value: Uint8Array;
}

export function readExtensions(node: DerNode | undefined): Extension[] {
  return sequenceOf(node, 'extensions').map((extension) => {
    const [type, ...rest] = sequenceOf(extension, 'extension');
    const flag = rest[0]?.tag === derTags.boolean ? rest.shift() : undefined;
    if (flag !== undefined) booleanOf(flag, 'critical');
    const [value, ...surplus] = rest;
    if (surplus.length > 0) throw new DerError('an extension has parts after its value');
    return {
      oid: oidOf(type, 'extension type'),
      value: expectTag(value, derTags.octetString, 'extension value').content,
    };
  });
}

export function readKeyUsages(der: Uint8Array): KeyUsage[] {
  const { bytes, bits } = bitStringOf(readDer(der), 'keyUsage');
  if (bits > keyUsageNames.length) throw new DerError('keyUsage names usages that do not exist');
  return keyUsageNames.filter((_name, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

export function readExtendedKeyUsages(der: Uint8Array): (ExtendedKeyUsage | (string & {}))[] {
  return sequenceOf(readDer(der), 'extendedKeyUsage').map((node) => {
    return extendedKeyUsageName(oidOf(node, 'extendedKeyUsage'));
  });
}

export interface BasicConstraints {
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
}

export function readBasicConstraints(der: Uint8Array): BasicConstraints {
  const parts = sequenceOf(readDer(der), 'basicConstraints');
  const flag = parts[0]?.tag === derTags.boolean ? parts.shift() : undefined;
  const [limit, ...surplus] = parts;
  if (surplus.length > 0) throw new DerError('basicConstraints has too many parts');
  const pathLength = limit === undefined ? undefined : Number(integerOf(limit, 'pathLenConstraint'));
  return { isCa: flag !== undefined && booleanOf(flag, 'cA'), pathLength };
}

export function readSubjectKeyId(der: Uint8Array): Uint8Array {
  return expectTag(readDer(der), derTags.octetString, 'subjectKeyIdentifier').content;
}
