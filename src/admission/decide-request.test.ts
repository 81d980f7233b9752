import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  asking,
  dns,
  ec,
  extension,
  names,
  nodeSubject,
  oids,
  pair,
  rdn,
  requestOf,
  tlv,
  utf8,
} from '../../test/oracle/pki-request-builder.ts';
import { seededRandom } from '../host/fake/fake-random.ts';
import { generateKeyPair, publicKeyDigest } from '../pki/key.ts';
import { makeSigningRequest } from '../pki/signing-request.ts';
import type { BootstrapToken } from './bootstrap-token-secret.ts';
import {
  type CertificateRequest,
  kubeletClientSigner,
  kubeletServingSigner,
  readCertificateRequest,
} from './certificate-request.ts';
import { decideRequest } from './decide-request.ts';
import type { JoinFacts, KnownNode } from './join-facts.ts';

const key = generateKeyPair(seededRandom('decide'));
const otherKey = generateKeyPair(seededRandom('thief'));
const now = new Date('2026-11-15T06:00:00Z');
const later = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);

interface Body {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}
const pem = (
  { commonName = 'system:node:worker-0', organizations = ['system:nodes'], dnsNames = [], ipAddresses = [] }: Body = {},
  by = key,
): string => makeSigningRequest({ subject: { commonName, organizations }, dnsNames, ipAddresses }, by);
const pemOfDer = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

interface Asked {
  readonly name?: string;
  readonly pem?: string;
  readonly signerName?: string;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  readonly conditions?: readonly object[];
}
function request(asked: Asked): CertificateRequest {
  return readCertificateRequest({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {
      name: asked.name ?? 'csr-1',
      uid: `uid-${asked.name ?? 'csr-1'}`,
      creationTimestamp: '2026-11-15T05:59:00Z',
      resourceVersion: '100',
    },
    spec: {
      request: Buffer.from(asked.pem ?? pem()).toString('base64'),
      signerName: asked.signerName ?? kubeletClientSigner,
      username: asked.username ?? 'system:bootstrap:abc123',
      groups: asked.groups ?? ['system:bootstrappers', 'system:bootstrappers:nodes', 'system:authenticated'],
      usages: asked.usages ?? ['digital signature', 'client auth'],
      ...(asked.expirationSeconds === undefined ? {} : { expirationSeconds: asked.expirationSeconds }),
    },
    status: asked.conditions === undefined ? {} : { conditions: asked.conditions },
  });
}
const serving = (asked: Asked = {}): CertificateRequest =>
  request({
    signerName: kubeletServingSigner,
    username: 'system:node:worker-0',
    groups: ['system:nodes', 'system:authenticated'],
    usages: ['digital signature', 'server auth'],
    pem: pem({ dnsNames: ['worker-0'], ipAddresses: ['10.0.0.21'] }),
    ...asked,
  });

const token: BootstrapToken = { id: 'abc123', pool: 'worker', expiresAt: later(30), resourceVersion: '7' };
const inventory: JoinFacts['inventory'] = {
  isClosed: true,
  machines: [
    { name: 'master-0', role: 'master', addresses: ['10.0.0.11'] },
    { name: 'worker-0', role: 'worker', addresses: ['10.0.0.21', 'fd00::21'] },
    { name: 'worker-1', role: 'worker', addresses: ['10.0.0.22'] },
  ],
};
const facts: JoinFacts = {
  now,
  inventory,
  nodes: [],
  tokens: [token],
  virtualAddresses: ['10.0.0.5'],
  machineNetworks: ['10.0.0.0/24', 'fd00::/64'],
};
const open: JoinFacts = { ...facts, inventory: { isClosed: false, machines: [] } };

const known0: KnownNode = { name: 'worker-0', isLive: true, isClaimed: false, addresses: [], createdAt: now };

/** A request for an IPv4 address that is written as an IPv6 address. */
const mapped = (octets: readonly number[]): Buffer =>
  requestOf({ attributes: [asking(names(tlv(0x87, Buffer.alloc(10), Buffer.of(0xff, 0xff, ...octets))))] });

const decide = (asked: CertificateRequest, known: JoinFacts = facts) => decideRequest(asked, known);
const reasonOf = (asked: CertificateRequest, known: JoinFacts = facts) => {
  const decision = decide(asked, known);
  return decision.outcome === 'leave-pending' ? decision.reason : decision.outcome;
};

describe('the first client certificate of a kubelet', () => {
  const keyDigest = publicKeyDigest(key.publicPem);
  const used = { by: 'worker-0', requestUid: 'uid-csr-1', keyDigest, at: now };

  test('is approved for an unused token, an expected name and exactly the right form', () => {
    expect(decide(request({}))).toMatchObject({
      outcome: 'approve',
      nodeName: 'worker-0',
      takes: { token: { id: 'abc123' }, keyDigest },
    });
    const rsa = ['digital signature', 'key encipherment', 'client auth'];
    expect(reasonOf(request({ usages: rsa, expirationSeconds: 3600 }))).toBe('approve');
    expect(reasonOf(request({ pem: pem({ commonName: 'system:node:new.example.test' }) }), open)).toBe('approve');
  });

  test('a request that took its token before a crash is approved afterwards, and at once so is the same key asking again', () => {
    for (const at of [now, later(-1), later(-20)]) {
      const known = { ...facts, tokens: [{ ...token, used: { ...used, at } }] };
      expect(reasonOf(request({}), known)).toBe('approve');
      expect(reasonOf(request({ name: 'csr-2' }), known)).toBe('approve');
      expect(reasonOf(request({ name: 'csr-2' }), { ...known, nodes: [{ ...known0, isLive: false }] })).toBe('approve');
    }
  });

  test('a node that an in-place attempt works on joins again while it counts as live, at its own address only', () => {
    const claimed = { ...known0, isClaimed: true, addresses: ['10.0.0.21'] };
    const given = (issuedToAddress: string) => ({
      ...facts,
      tokens: [{ ...token, issuedToAddress }],
      nodes: [claimed],
    });
    expect(reasonOf(request({}), { ...facts, nodes: [claimed] })).toBe('approve');
    expect(reasonOf(request({}), given('10.0.0.21'))).toBe('approve');
    expect(reasonOf(request({}), given('10.0.0.22'))).toContain('a live node is called worker-0 already');
    expect(reasonOf(request({ pem: pem({ commonName: 'system:node:worker-1' }) }), given('10.0.0.21'))).toContain(
      'which is not an address of worker-1',
    );
  });

  test('a used token never works for another key, not even for the same name', () => {
    const stolen = request({ name: 'csr-2', pem: pem({}, otherKey) });
    for (const at of [now, later(-1), later(-29)]) {
      const known = { ...facts, tokens: [{ ...token, used: { ...used, at } }] };
      expect(reasonOf(stolen, known)).toContain('was used before, by worker-0');
      expect(reasonOf(stolen, { ...known, nodes: [{ ...known0, isLive: false }] })).toContain('was used before');
    }
  });

  test('a token that an approver took without recording a key works for the request that took it, and no other', () => {
    const { keyDigest: _unknown, ...before } = used;
    const known = { ...facts, tokens: [{ ...token, used: { ...before, at: later(-1) } }] };
    expect(reasonOf(request({}), known)).toBe('approve');
    for (const by of [key, otherKey]) {
      expect(reasonOf(request({ name: 'csr-2', pem: pem({}, by) }), known)).toContain('was used before, by worker-0');
    }
  });

  test('a used token is spent for any other name, also for its own key', () => {
    const known = { ...facts, tokens: [{ ...token, used }] };
    const other = pem({ commonName: 'system:node:worker-1' });
    expect(reasonOf(request({ pem: other }), known)).toContain('was used before');
    expect(reasonOf(request({ name: 'csr-2', pem: other }), known)).toContain('was used before');
  });

  test('a node that fell silent may be replaced; a live one, and one that is not ready, may not', () => {
    expect(reasonOf(request({}), { ...facts, nodes: [{ ...known0, isLive: false }] })).toBe('approve');
    expect(reasonOf(request({}), { ...facts, nodes: [known0] })).toBe('a live node is called worker-0 already');
  });

  test('a name that was just promised to another token is kept for it, for ten minutes', () => {
    const promised = (minutesAgo: number): JoinFacts => {
      const used = { by: 'worker-0', requestUid: 'uid-other', at: later(-minutesAgo) };
      return { ...facts, tokens: [token, { ...token, id: 'zzz999', used }] };
    };
    expect(reasonOf(request({}), promised(1))).toContain('worker-0 was promised to token zzz999');
    expect(reasonOf(request({}), promised(11))).toBe('approve');
    const isDead = { ...promised(1), nodes: [{ ...known0, isLive: false }] };
    expect(reasonOf(request({}), isDead)).toBe('approve');
  });

  test('without an inventory an address becomes one node, until that one is given up', () => {
    const from = { ...token, issuedToAddress: '10.0.0.21' };
    const joining = request({ pem: pem({ commonName: 'system:node:second' }) });
    const first = { ...known0, addresses: ['10.0.0.21'] };
    expect(reasonOf(joining, { ...open, tokens: [from], nodes: [first] })).toContain('the live node worker-0');
    expect(reasonOf(joining, { ...open, tokens: [from], nodes: [{ ...first, isLive: false }] })).toBe('approve');
    const used = (minutesAgo: number) => ({ by: 'worker-0', requestUid: 'uid-other', at: later(-minutesAgo) });
    const known = (minutesAgo: number) => ({
      ...open,
      tokens: [from, { ...from, id: 'zzz999', used: used(minutesAgo) }],
    });
    expect(reasonOf(joining, known(1))).toContain('which became worker-0');
    expect(reasonOf(joining, known(11))).toBe('approve');
    const elsewhere = { ...from, id: 'zzz999', issuedToAddress: '10.0.0.22', used: used(1) };
    expect(reasonOf(joining, { ...open, tokens: [from, elsewhere] })).toBe('approve');
  });

  test('rotation, other signers and settled requests are left to others without a word', () => {
    expect(reasonOf(request({ username: 'system:node:worker-0' }))).toBe('not-ours');
    expect(reasonOf(request({ signerName: 'kubernetes.io/kube-apiserver-client' }))).toBe('not-ours');
    expect(reasonOf(request({ conditions: [{ type: 'Approved', status: 'True' }] }))).toBe('not-ours');
  });
});

const ten = 10 * 365 * 86_400;
const hostileClients: Record<string, readonly [Asked, RegExp, JoinFacts?]> = {
  'by a certificate instead of a token': [{ username: 'system:admin' }, /does not ask with a bootstrap token/],
  'by a user whose name looks like one': [{ username: 'system:bootstrap:abc123 ' }, /does not ask with a bootstrap/],
  'by a service account': [{ username: 'system:serviceaccount:kube-system:abc123' }, /does not ask with a bootstrap/],
  'without the group of the token': [{ groups: ['system:authenticated'] }, /not in the group/],
  'with a token that we did not issue': [{ username: 'system:bootstrap:evil00' }, /not one that a config server/],
  'with an expired token': [{}, /expired at/, { ...facts, now: later(31) }],
  'for a name outside the inventory': [{ pem: pem({ commonName: 'system:node:evil' }) }, /not in the inventory/],
  'for a master, by a worker': [{ pem: pem({ commonName: 'system:node:master-0' }) }, /is a master, but token abc123/],
  'from an address of another machine': [
    {},
    /was given to 10.0.0.99, which is not an address of worker-0/,
    { ...facts, tokens: [{ ...token, issuedToAddress: '10.0.0.99' }] },
  ],
  'for the group of administrators': [{ pem: pem({ organizations: ['system:masters'] }) }, /not exactly system:nodes/],
  'for one group more': [{ pem: pem({ organizations: ['system:nodes', 'system:masters'] }) }, /not exactly/],
  'for the same group twice': [{ pem: pem({ organizations: ['system:nodes', 'system:nodes'] }) }, /not exactly/],
  'for no group': [{ pem: pem({ organizations: [] }) }, /organizations are none/],
  'for a user who is no node': [{ pem: pem({ commonName: 'system:admin' }) }, /is not system:node:/],
  'for a node without a name': [{ pem: pem({ commonName: 'system:node:' }) }, /is not system:node:/],
  'for a name in capitals': [{ pem: pem({ commonName: 'system:node:Worker-0' }) }, /is not system:node:/],
  'for a name with a path in it': [{ pem: pem({ commonName: 'system:node:../worker-0' }) }, /is not system:node:/],
  'for a name with a second line': [{ pem: pem({ commonName: 'system:node:worker-0\n' }) }, /is not system:node:/],
  'with a DNS name': [{ pem: pem({ dnsNames: ['worker-0'] }) }, /has no alternative names/],
  'with an address': [{ pem: pem({ ipAddresses: ['10.0.0.21'] }) }, /has no alternative names/],
  'for serving too': [{ usages: ['digital signature', 'client auth', 'server auth'] }, /its usages are/],
  'for signing': [{ usages: ['digital signature', 'client auth', 'cert sign'] }, /its usages are/],
  'for nothing': [{ usages: [] }, /its usages are none/],
  'for ten years': [{ expirationSeconds: ten }, /outside 600 to/],
  'for a second': [{ expirationSeconds: 1 }, /outside 600 to/],
  'to become a CA': [
    {
      pem: pemOfDer(requestOf({ attributes: [asking(extension(oids.constraints, Buffer.from('30030101ff', 'hex')))] })),
    },
    /asks to become a CA/,
  ],
  'with two common names': [
    { pem: pemOfDer(requestOf({ subject: [...nodeSubject, nodeSubject[1]!] })) },
    /an honest request does not/,
  ],
  'that would clear the terminal of whoever reads the reason': [
    { pem: pemOfDer(requestOf({ subject: [rdn(pair(oids.unit, utf8('\u001b[2J'))), ...nodeSubject] })) },
    /honest request does not: OU=�\[2J/,
  ],
  'with a challenge password': [
    {
      pem: pemOfDer(
        requestOf({ attributes: [tlv(0x30, oids.challengePassword, tlv(0x31, tlv(0x0c, Buffer.from('x'))))] }),
      ),
    },
    /attribute/,
  ],
  'with a weak key': [
    { pem: pemOfDer(requestOf({ keys: generateKeyPairSync('rsa', { modulusLength: 1024 }) })) },
    /rsa key of 1024 bits/,
  ],
  'for the key of somebody else': [
    {
      pem: pemOfDer(
        requestOf({
          keys: {
            publicKey: ec.publicKey,
            privateKey: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
          },
        }),
      ),
    },
    /not signed by the key it names/,
  ],
  'that is two requests': [{ pem: pem() + pem() }, /not exactly one PEM block/],
  'that is no request at all': [{ pem: 'hello' }, /not a certificate signing request/],
};

describe('a hostile request for a client certificate', () => {
  test.each(Object.entries(hostileClients))('%s stays pending and says why', (_, [asked, reason, known]) => {
    expect(reasonOf(request(asked), known ?? facts)).toMatch(reason);
  });
});

describe('the serving certificate of a kubelet', () => {
  test('is approved for the name and the addresses of the inventory', () => {
    expect(decide(serving())).toMatchObject({ outcome: 'approve', nodeName: 'worker-0' });
    expect(reasonOf(serving({ pem: pem({ ipAddresses: ['10.0.0.21', 'fd00::21'] }) }))).toBe('approve');
    expect(reasonOf(serving({ pem: pem({ dnsNames: ['worker-0'] }) }))).toBe('approve');
  });

  test('without an inventory for the addresses that the node reports, unless another has them', () => {
    const own = { ...known0, addresses: ['10.0.0.21'] };
    const other = { ...known0, name: 'worker-1', addresses: ['10.0.0.22'], createdAt: later(-60) };
    expect(reasonOf(serving(), { ...open, nodes: [own, other] })).toBe('approve');
    const thief = { ...own, addresses: ['10.0.0.21', '10.0.0.22'] };
    const stolen = serving({ pem: pem({ ipAddresses: ['10.0.0.22'] }) });
    expect(reasonOf(stolen, { ...open, nodes: [thief, other] })).toContain('belongs to worker-1');
    expect(reasonOf(serving(), open)).toContain('not among the addresses that the node reports: none');
  });

  test('without an inventory is not kept from a node by a younger one that reports its address', () => {
    const own = { ...known0, addresses: ['10.0.0.21'] };
    const younger = { ...known0, name: 'worker-1', addresses: ['10.0.0.21'], createdAt: later(1) };
    expect(reasonOf(serving(), { ...open, nodes: [younger, own] })).toBe('approve');
  });

  test('without an inventory is for an address of the machine network only', () => {
    const away = { ...known0, addresses: ['203.0.113.9'] };
    const asked = serving({ pem: pem({ ipAddresses: ['203.0.113.9'] }) });
    expect(reasonOf(asked, { ...open, nodes: [away] })).toContain('not in the machine network');
    expect(reasonOf(asked, { ...open, machineNetworks: [], nodes: [away] })).toBe('approve');
  });
});

const hostileServers: Record<string, readonly [Asked, RegExp, JoinFacts?]> = {
  'of another node': [{ username: 'system:node:worker-1' }, /worker-1 asks for a certificate of system:node:worker-0/],
  'by a bootstrap token': [{ username: 'system:bootstrap:abc123' }, /asks for a certificate of/],
  'by somebody outside the nodes': [{ groups: ['system:authenticated'] }, /not in the group system:nodes/],
  'for no name at all': [{ pem: pem() }, /neither a DNS name nor an address/],
  'for the name of the API': [{ pem: pem({ dnsNames: ['api-int.demo.firstlight.test'] }) }, /not that of the node/],
  'for a wildcard': [
    { pem: pemOfDer(requestOf({ attributes: [asking(names(dns('*.firstlight.test')))] })) },
    /not that of/,
  ],
  'for an address of nobody': [
    { pem: pem({ ipAddresses: ['10.0.0.99'] }) },
    /not among the addresses of the inventory/,
  ],
  'for an address of another': [
    { pem: pem({ ipAddresses: ['10.0.0.22'] }) },
    /not among the addresses of the inventory/,
  ],
  'for loopback': [{ pem: pem({ ipAddresses: ['127.0.0.1'] }) }, /a loopback address/],
  'for loopback of IPv6': [{ pem: pem({ ipAddresses: ['::1'] }) }, /a loopback address/],
  'for loopback in new clothes': [{ pem: pemOfDer(mapped([127, 0, 0, 1])) }, /what an honest request does not: ip/],
  'for the address of another in new clothes': [
    { pem: pemOfDer(mapped([10, 0, 0, 22])) },
    /what an honest request does not: ip/,
    { ...open, nodes: [{ ...known0, addresses: ['::ffff:10.0.0.22'] }] },
  ],
  'for an address as its DNS name': [
    {
      username: 'system:node:10.0.0.11',
      pem: pem({ commonName: 'system:node:10.0.0.11', dnsNames: ['10.0.0.11'] }),
    },
    /its node name 10.0.0.11 is an address/,
    open,
  ],
  'for the address of the load balancer': [{ pem: pem({ ipAddresses: ['10.0.0.5'] }) }, /moves between machines/],
  'for client use': [{ usages: ['digital signature', 'client auth'] }, /its usages are/],
  'by a node outside the inventory': [
    { username: 'system:node:ghost', pem: pem({ commonName: 'system:node:ghost', dnsNames: ['ghost'] }) },
    /ghost is not in the inventory/,
  ],
  'with an e-mail address': [
    { pem: pemOfDer(requestOf({ attributes: [asking(names(dns('worker-0'), tlv(0x81, Buffer.from('a@b.test'))))] })) },
    /a@b.test/,
  ],
};

describe('a hostile request for a serving certificate', () => {
  test.each(Object.entries(hostileServers))('%s stays pending and says why', (_, [asked, reason, known]) => {
    expect(reasonOf(serving(asked), known ?? facts)).toMatch(reason);
  });
});
