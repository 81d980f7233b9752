// Signing requests built octet by octet and properly signed, so that they can hold what no honest program writes.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
};
export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
export const oids = {
  commonName: hex('06 03 55 04 03'),
  organization: hex('06 03 55 04 0a'),
  unit: hex('06 03 55 04 0b'),
  extensionRequest: hex('06 09 2a 86 48 86 f7 0d 01 09 0e'),
  challengePassword: hex('06 09 2a 86 48 86 f7 0d 01 09 07'),
  alternativeName: hex('06 03 55 1d 11'),
  constraints: hex('06 03 55 1d 13'),
  policies: hex('06 03 55 1d 20'),
  ecdsaSha256: hex('06 08 2a 86 48 ce 3d 04 03 02'),
  rsaSha256: hex('06 09 2a 86 48 86 f7 0d 01 01 0b'),
  ecdsaSha1: hex('06 07 2a 86 48 ce 3d 04 01'),
};
export const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
export const pair = (oid: Buffer, value: Buffer) => tlv(0x30, oid, value);
export const rdn = (...pairs: readonly Buffer[]) => tlv(0x31, ...pairs);
export const nodeSubject = [
  rdn(pair(oids.organization, utf8('system:nodes'))),
  rdn(pair(oids.commonName, utf8('system:node:worker-0'))),
];
export const extension = (oid: Buffer, value: Buffer) => tlv(0x30, oid, tlv(0x04, value));
export const names = (...generalNames: readonly Buffer[]) =>
  extension(oids.alternativeName, tlv(0x30, ...generalNames));
export const asking = (...extensions: readonly Buffer[]) =>
  tlv(0x30, oids.extensionRequest, tlv(0x31, tlv(0x30, ...extensions)));
export const dns = (name: string) => tlv(0x82, Buffer.from(name));

export const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

export interface Shape {
  readonly subject?: readonly Buffer[];
  readonly attributes?: readonly Buffer[];
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly algorithm?: Buffer;
  readonly version?: number;
  readonly tail?: Buffer;
}

export function requestOf(shape: Shape): Buffer {
  return signedRequest(requestBody(shape), shape);
}

export function requestBody({ subject = nodeSubject, attributes = [], keys = ec, version = 0 }: Shape): Buffer {
  const spki = keys.publicKey.export({ type: 'spki', format: 'der' });
  return tlv(0x30, tlv(0x02, Buffer.of(version)), tlv(0x30, ...subject), spki, tlv(0xa0, ...attributes));
}

/** Signs whatever is given as the body of a request. */
export function signedRequest(body: Uint8Array, { keys = ec, algorithm, tail = Buffer.alloc(0) }: Shape = {}): Buffer {
  const chosen = algorithm ?? (keys.publicKey.asymmetricKeyType === 'rsa' ? oids.rsaSha256 : oids.ecdsaSha256);
  const signature = tlv(0x03, Buffer.of(0), sign('sha256', body, keys.privateKey));
  return tlv(0x30, body, tlv(0x30, chosen), signature, tail);
}
