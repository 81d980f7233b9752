// The object identifiers that our certificates and requests use (RFC 5280, RFC 2985, RFC 5912), and their usual names.

export const nameOids = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

export const extensionOids = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** PKCS#9 extensionRequest: the attribute of a signing request that carries the extensions it asks for. */
export const extensionRequestOid = '1.2.840.113549.1.9.14';

/** The one algorithm we sign with (RFC 5758 §3.2). */
export const ecdsaWithSha256Oid = '1.2.840.10045.4.3.2';

/** Bit n of the keyUsage extension (RFC 5280 §4.2.1.3). */
export const keyUsageNames = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;
export type KeyUsage = (typeof keyUsageNames)[number];

export const extendedKeyUsageOids = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;
export type ExtendedKeyUsage = keyof typeof extendedKeyUsageOids;

/** A known usage by name, another one by number. */
export function extendedKeyUsageName(oid: string): ExtendedKeyUsage | (string & {}) {
  return Object.entries(extendedKeyUsageOids).find(([, known]) => known === oid)?.[0] ?? oid;
}

const attributeNames: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
};

/** The usual short name of a subject attribute, or its number. */
export function attributeName(oid: string): string {
  return attributeNames[oid] ?? oid;
}
