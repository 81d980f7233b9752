import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asking,
  dns,
  ec,
  extension,
  hex,
  names,
  nodeSubject as node,
  oids,
  pair,
  rdn,
  requestOf,
  type Shape,
  tlv,
  utf8,
} from '../../test/oracle/pki-request-builder.ts';
import { sampleContents, sampleNow, sampleRandom } from '../../test/oracle/pki-sample.ts';
import { canonicalAddress } from '../contract/addresses.ts';
import { isError } from '../errors/firstlight-error.ts';
import { readCertificate } from './certificate.ts';
import { pkiErrors } from './errors.ts';
import { certify, issueSigner } from './issue.ts';
import { generateKeyPair } from './key.ts';
import { pemBlocks, pemOf } from './pem.ts';
import { makeSigningRequest, readSigningRequest } from './signing-request.ts';

const read = (shape: Shape) => readSigningRequest(pemOf('CERTIFICATE REQUEST', requestOf(shape)));
const kinds = (shape: Shape) => read(shape).oddities.map(({ kind }) => kind);

describe('a signing request', () => {
  test('of a kubelet has no oddities', () => {
    expect(read({ attributes: [asking(names(dns('worker-0'), tlv(0x87, hex('0a 63 00 14'))))] })).toMatchObject({
      subject: { commonName: 'system:node:worker-0', organizations: ['system:nodes'] },
      subjectText: 'O=system:nodes, CN=system:node:worker-0',
      dnsNames: ['worker-0'],
      ipAddresses: ['10.99.0.20'],
      publicKey: { type: 'ec', bits: 256 },
      requestedExtensions: ['2.5.29.17'],
      oddities: [],
    });
    expect(kinds({})).toEqual([]);
  });

  test('of ours reads back as what was asked for', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    const wishes = fc.record({
      subject: fc.record({
        commonName: fc.stringMatching(/^[ -~]{1,40}$/),
        organizations: fc.array(fc.stringMatching(/^[ -~]{1,40}$/), { maxLength: 3 }),
      }),
      dnsNames: fc.array(label, { maxLength: 4 }),
      ipAddresses: fc.array(fc.oneof(fc.ipV4(), fc.ipV6()).map(canonicalAddress), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(wishes, fc.string(), (wished, seed) => {
        const key = generateKeyPair(sampleRandom(seed));
        const request = readSigningRequest(makeSigningRequest(wished, key));
        expect(request).toMatchObject({ ...wished, publicPem: key.publicPem, oddities: [] });
      }),
      { numRuns: 60 },
    );
  });
});

describe('an odd request is told apart:', () => {
  const cases: readonly [string, Shape, readonly string[]][] = [
    [
      'two common names',
      { subject: [...node, rdn(pair(oids.commonName, utf8('system:admin')))] },
      ['several-common-names'],
    ],
    ['no common name', { subject: node.slice(0, 1) }, ['no-common-name']],
    ['an empty subject', { subject: [] }, ['no-common-name']],
    [
      'two organizations in one RDN',
      {
        subject: [
          rdn(pair(oids.organization, utf8('system:masters')), pair(oids.organization, utf8('system:nodes'))),
          node[1]!,
        ],
      },
      ['multi-valued-rdn'],
    ],
    ['another attribute', { subject: [...node, rdn(pair(oids.unit, utf8('x')))] }, ['subject-attribute']],
    [
      'a common name in UTF-16',
      { subject: [node[0]!, rdn(pair(oids.commonName, tlv(0x1e, hex('00 61'))))] },
      ['string-type'],
    ],
    [
      'a common name as IA5String',
      { subject: [node[0]!, rdn(pair(oids.commonName, tlv(0x16, Buffer.from('a'))))] },
      ['string-type'],
    ],
    [
      'a PrintableString that is not one',
      { subject: [node[0]!, rdn(pair(oids.commonName, tlv(0x13, Buffer.from('a*@'))))] },
      ['string-type'],
    ],
    ['broken UTF-8', { subject: [node[0]!, rdn(pair(oids.commonName, tlv(0x0c, hex('61 ff 62'))))] }, ['string-type']],
    [
      'a NUL in a name',
      { subject: [node[0]!, rdn(pair(oids.commonName, utf8('system:node:a\0b')))] },
      ['control-character'],
    ],
    [
      'text that runs backwards on the screen',
      { subject: [node[0]!, rdn(pair(oids.commonName, utf8('system:node:\u202Ea')))] },
      ['control-character'],
    ],
    [
      'a challenge password',
      { attributes: [tlv(0x30, oids.challengePassword, tlv(0x31, utf8('secret')))] },
      ['attribute'],
    ],
    [
      'extensions asked for twice',
      { attributes: [asking(names(dns('worker-0'))), asking(names(dns('api')))] },
      ['duplicate-attribute', 'duplicate-extension'],
    ],
    [
      'two values in one attribute',
      { attributes: [tlv(0x30, oids.extensionRequest, tlv(0x31, tlv(0x30), tlv(0x30)))] },
      ['duplicate-attribute'],
    ],
    ['an unknown extension', { attributes: [asking(extension(oids.policies, tlv(0x30)))] }, ['extension']],
    [
      'the wish to be a CA',
      { attributes: [asking(extension(oids.constraints, tlv(0x30, hex('01 01 ff'))))] },
      ['asks-for-ca'],
    ],
    ['an e-mail address', { attributes: [asking(names(tlv(0x81, Buffer.from('a@b'))))] }, ['alternative-name']],
    ['a URI', { attributes: [asking(names(tlv(0x86, Buffer.from('spiffe://a/b'))))] }, ['alternative-name']],
    [
      'an other name',
      { attributes: [asking(names(tlv(0xa0, oids.unit, tlv(0xa0, utf8('x')))))] },
      ['alternative-name'],
    ],
    ['a directory name', { attributes: [asking(names(tlv(0xa4, tlv(0x30))))] }, ['alternative-name']],
    [
      'an address of five octets',
      { attributes: [asking(names(tlv(0x87, hex('0a 63 00 14 00'))))] },
      ['alternative-name'],
    ],
    [
      'an IPv4 address that is written as IPv6',
      { attributes: [asking(names(tlv(0x87, hex('00000000 00000000 0000ffff 0a000016'))))] },
      ['alternative-name'],
    ],
    ['a DNS name with a NUL', { attributes: [asking(names(dns('a\0b')))] }, ['alternative-name']],
    ['an empty list of names', { attributes: [asking(names())] }, ['alternative-name']],
    ['a short RSA key', { keys: generateKeyPairSync('rsa', { modulusLength: 1024 }) }, ['weak-key']],
    ['a small curve', { keys: generateKeyPairSync('ec', { namedCurve: 'secp224r1' }) }, ['weak-key']],
  ];
  test.each(cases)('%s', (_what, shape, expected) => {
    expect(kinds(shape)).toEqual(expected);
  });

  test('both lists of names count when extensions are asked for twice', () => {
    const { dnsNames } = read({ attributes: [asking(names(dns('worker-0'))), asking(names(dns('api')))] });
    expect(dnsNames).toEqual(['worker-0', 'api']);
  });

  test('a long RSA key and the other NIST curves are fine', () => {
    expect(kinds({ keys: generateKeyPairSync('rsa', { modulusLength: 2048 }) })).toEqual([]);
    expect(kinds({ keys: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }) })).toEqual([]);
  });
});

describe('a request is refused', () => {
  const refusal = (pem: string): string | undefined => {
    try {
      readSigningRequest(pem);
    } catch (error) {
      if (isError(error, pkiErrors.REQUEST_FORGED) || isError(error, pkiErrors.REQUEST_UNREADABLE)) return error.code;
      throw error;
    }
    return undefined;
  };
  const forged = pkiErrors.REQUEST_FORGED.code;
  const unreadable = pkiErrors.REQUEST_UNREADABLE.code;
  const good = requestOf({ attributes: [asking(names(dns('worker-0')))] });
  const asPem = (der: Uint8Array) => pemOf('CERTIFICATE REQUEST', der);

  test('when another subject was put in after signing', () => {
    const altered = Buffer.from(good);
    altered.write('X', altered.indexOf('worker-0'));
    expect(refusal(asPem(altered))).toBe(forged);
  });

  test('when its public key was exchanged', () => {
    const theirs = ec.publicKey.export({ type: 'spki', format: 'der' });
    const ours = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({
      type: 'spki',
      format: 'der',
    });
    const altered = Buffer.from(good);
    ours.copy(altered, altered.indexOf(theirs));
    expect(refusal(asPem(altered))).toBe(forged);
  });

  test.each([
    ['the algorithm is not one for its key', asPem(requestOf({ algorithm: oids.rsaSha256 }))],
    ['the algorithm uses SHA-1', asPem(requestOf({ algorithm: oids.ecdsaSha1 }))],
    ['its version is unknown', asPem(requestOf({ version: 2 }))],
    ['something follows the signature', asPem(requestOf({ tail: tlv(0x05) }))],
    ['something follows the request', asPem(Buffer.concat([good, Buffer.of(0)]))],
    ['it is cut off', asPem(good.subarray(0, -1))],
    ['there are two', asPem(good) + asPem(good)],
    ['it is labelled as something else', pemOf('CERTIFICATE', good)],
    ['it is empty', ''],
    ['it is huge', asPem(Buffer.alloc(60_000))],
    ['an alternative name is malformed', asPem(requestOf({ attributes: [asking(names(hex('82 05 61')))] }))],
  ])('when %s', (_what, pem) => {
    expect(refusal(pem)).toBe(unreadable);
  });

  test('when any single bit of it is flipped', () => {
    const accepted = Array.from({ length: good.length * 8 }, (_none, bit) => bit).filter((bit) => {
      const altered = Buffer.from(good);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      return refusal(asPem(altered)) === undefined;
    });
    expect(accepted).toEqual([]);
  });
});

test('signing a request takes its key and nothing it asked for', () => {
  const options = { random: sampleRandom('sign'), now: sampleNow };
  const subject = { commonName: 'kubelet-signer', organizations: [] };
  const signer = issueSigner({ subject, validityDays: 3650 }, options);
  const request = read({
    subject: [rdn(pair(oids.organization, utf8('system:masters'))), rdn(pair(oids.commonName, utf8('root')))],
    attributes: [asking(names(dns('api')), extension(oids.constraints, tlv(0x30, hex('01 01 ff'))))],
  });
  const contents = { ...sampleContents('kubelet-client'), validityDays: 1 / 24 };
  const certificate = readCertificate(
    certify(request.publicPem, { contents, signer, backdateMs: 300_000, ...options }),
  );
  expect(certificate).toMatchObject({
    subject: { commonName: 'system:node:master-0', organizations: ['system:nodes'] },
    dnsNames: [],
    isCa: false,
    extendedKeyUsages: ['clientAuth'],
    publicPem: request.publicPem,
    notBefore: new Date(sampleNow.getTime() - 300_000),
    notAfter: new Date(sampleNow.getTime() + 3_600_000),
  });
});

test('PEM of a request survives reading and writing', () => {
  const pem = pemOf('CERTIFICATE REQUEST', requestOf({}));
  expect(pemBlocks(`noise\n${pem}`)?.map(({ label, der }) => pemOf(label, der))).toEqual([pem]);
});
