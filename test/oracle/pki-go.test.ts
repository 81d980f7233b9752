// Go's x509 as the judge: it is what kube-apiserver, kubelet and etcd are built on. Two questions: does it accept every
// leaf for exactly what the leaf is meant for, and can any signing request mean something else to it than to us?
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FirstlightError } from '../../src/errors/firstlight-error.ts';
import { generateKeyPair } from '../../src/pki/key.ts';
import { pemOf } from '../../src/pki/pem.ts';
import { type LeafName, leafProfiles } from '../../src/pki/profiles.ts';
import { readSigningRequest, type SigningRequest } from '../../src/pki/signing-request.ts';
import {
  asking,
  dns,
  extension,
  hex,
  names,
  oids,
  pair,
  rdn,
  requestBody,
  signedRequest,
  tlv,
  utf8,
} from './pki-request-builder.ts';
import { anchorOf, sampleContents, sampleNow, samplePki, sampleRandom } from './pki-sample.ts';

interface GoRequest {
  readonly Error: string;
  readonly CommonName: string;
  readonly Attributes: number;
  readonly Organizations: readonly string[] | null;
  readonly DNSNames: readonly string[] | null;
  readonly IPAddresses: readonly string[] | null;
  /** How many octets each address has in a certificate that Go makes of the request. */
  readonly SignedOctets: readonly number[] | null;
  readonly EmailAddresses: readonly string[] | null;
  readonly URIs: readonly string[] | null;
  readonly ExtensionIDs: readonly string[] | null;
}
interface GoAnswer {
  readonly Complaints: Readonly<Record<string, readonly string[]>>;
  readonly Requests: readonly GoRequest[];
}

const hasGo = spawnSync('go', ['version']).status === 0;
const folder = mkdtempSync(path.join(tmpdir(), 'firstlight-pki-go-'));
const judge = path.join(folder, 'judge');
afterAll(() => rmSync(folder, { recursive: true }));

function ask(question: object): GoAnswer {
  const answer = execFileSync(judge, { input: JSON.stringify(question), encoding: 'utf8', maxBuffer: 2 ** 28 });
  return JSON.parse(answer) as GoAnswer;
}

// What an attacker may choose: every tag, every order, any text, then a few octets exchanged before signing.
const texts = fc.oneof(
  fc.constantFrom('system:nodes', 'system:masters', 'system:node:worker-0', 'worker-0', ''),
  fc.string({ maxLength: 12, unit: 'binary' }),
);
const stringTags = fc.constantFrom(0x0c, 0x0c, 0x0c, 0x13, 0x13, 0x14, 0x16, 0x1c, 0x1e, 0x04);
const attribute = fc
  .tuple(fc.constantFrom(oids.commonName, oids.organization, oids.unit), stringTags, texts)
  .map(([oid, tag, text]) => pair(oid, tlv(tag, Buffer.from(text))));
const strangeSubject = fc.array(
  fc.array(attribute, { minLength: 1, maxLength: 2 }).map((pairs) => rdn(...pairs)),
  { maxLength: 3 },
);
const plainText = fc.string({ maxLength: 12 });
const plainSubject = fc
  .tuple(fc.array(plainText, { maxLength: 2 }), plainText)
  .map(([organizations, commonName]) => [
    ...organizations.map((text) => rdn(pair(oids.organization, utf8(text)))),
    rdn(pair(oids.commonName, utf8(commonName))),
  ]);
const subject = fc.oneof(plainSubject, strangeSubject);
/** Before four octets of IPv4: sixteen of IPv6, which Go takes for the IPv4 address. */
const ipv4Mapped = hex('00000000 00000000 0000ffff');
const addresses = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.concat([ipv4Mapped, bytes])),
  fc.uint8Array({ maxLength: 5 }),
);
const generalName = fc.oneof(
  { weight: 4, arbitrary: plainText.map(dns) },
  texts.map(dns),
  addresses.map((bytes) => tlv(0x87, bytes)),
  texts.map((text) => tlv(0x81, Buffer.from(text))),
  texts.map((text) => tlv(0x86, Buffer.from(`urn:${text}`))),
  fc.constant(tlv(0xa4, tlv(0x30))),
);
const wish = fc.oneof(
  { weight: 4, arbitrary: fc.array(generalName, { maxLength: 3 }).map((list) => names(...list)) },
  { weight: 1, arbitrary: fc.constant(extension(oids.constraints, tlv(0x30, hex('01 01 ff')))) },
  { weight: 1, arbitrary: fc.constant(extension(oids.policies, tlv(0x30))) },
);
const attributes = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.array(wish, { maxLength: 2 }).map((list) => asking(...list)) },
    { weight: 1, arbitrary: fc.constant(tlv(0x30, oids.challengePassword, tlv(0x31, tlv(0x0c)))) },
  ),
  { maxLength: 2 },
);
const exchanges = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }) },
);
const anyRequest = fc.tuple(subject, attributes, exchanges).map(([subject, attributes, changes]) => {
  const body = requestBody({ subject, attributes });
  for (const [where, octet] of changes) body[where % body.length] = octet;
  return pemOf('CERTIFICATE REQUEST', signedRequest(body));
});

/** One spelling of an address, by the URL parser: not by the function under test. */
function spelling(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

function readOrRefuse(pem: string): SigningRequest | undefined {
  try {
    return readSigningRequest(pem);
  } catch (error) {
    if (error instanceof FirstlightError) return undefined;
    throw error;
  }
}

describe.skipIf(!hasGo)('Go', () => {
  beforeAll(() => {
    const source = path.join(import.meta.dirname, 'pki-go', 'main.go');
    execFileSync('go', ['build', '-o', judge, source], { env: { ...process.env, GOFLAGS: '', CGO_ENABLED: '0' } });
  }, 120_000);

  test('accepts every leaf for its usages and its names, and the service-account key', () => {
    const pki = samplePki('go');
    const leaves = Object.entries(pki.leaves).map(([name, { certificatePem, key }]) => {
      const { purpose } = leafProfiles[name as LeafName];
      const { dnsNames, ipAddresses } = sampleContents(name as LeafName);
      return [
        name,
        {
          Certificate: certificatePem,
          Key: key.privatePem.reveal(),
          Signer: pki.signers[anchorOf(name as LeafName)].certificatePem,
          Server: purpose !== 'client',
          Client: purpose !== 'server',
          Hosts: [...dnsNames, ...ipAddresses],
        },
      ];
    });
    const account = generateKeyPair(sampleRandom('account'));
    const { Complaints } = ask({
      At: sampleNow,
      Leaves: Object.fromEntries(leaves),
      SigningKey: account.privatePem.reveal(),
      PublicKey: account.publicPem,
    });
    const expected = [...Object.keys(leafProfiles), 'service-account'].map((name) => [name, []]);
    expect(Complaints).toEqual(Object.fromEntries(expected));
  });

  test('reads a request without oddities exactly as we read it', () => {
    const seed = 20_261_115;
    const requests = fc.sample(anyRequest, { seed, numRuns: 4000 });
    const { Requests } = ask({ At: sampleNow, Leaves: {}, Requests: requests });
    const clean = requests.flatMap((pem, index) => {
      const ours = readOrRefuse(pem);
      return ours === undefined || ours.oddities.length > 0 ? [] : [{ ours, theirs: Requests[index]! }];
    });
    for (const { ours, theirs } of clean) {
      expect(theirs.Error).toBe('');
      expect({
        CommonName: theirs.CommonName,
        Organizations: theirs.Organizations ?? [],
        Attributes: theirs.Attributes,
        DNSNames: theirs.DNSNames ?? [],
        IPAddresses: (theirs.IPAddresses ?? []).map(spelling),
        SignedOctets: theirs.SignedOctets ?? [],
        EmailAddresses: theirs.EmailAddresses ?? [],
        URIs: theirs.URIs ?? [],
        ExtensionIDs: theirs.ExtensionIDs ?? [],
      }).toEqual({
        CommonName: ours.subject.commonName,
        Organizations: ours.subject.organizations,
        Attributes: ours.subject.organizations.length + 1,
        DNSNames: ours.dnsNames,
        IPAddresses: ours.ipAddresses.map(spelling),
        SignedOctets: ours.ipAddresses.map((address) => (address.includes(':') ? 16 : 4)),
        EmailAddresses: [],
        URIs: [],
        ExtensionIDs: ours.requestedExtensions,
      });
    }
    const mapped = requests.filter((pem) =>
      Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ''), 'base64').includes(ipv4Mapped),
    );
    expect(mapped.length).toBeGreaterThan(20);
    // Enough of both kinds that the comparison means something.
    expect(clean.length).toBeGreaterThan(50);
    expect(Requests.filter(({ Error }) => Error === '').length).toBeGreaterThan(clean.length);
  });
});
