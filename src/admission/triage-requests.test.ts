import { describe, expect, test } from 'vitest';
import type { BootstrapToken } from './bootstrap-token-secret.ts';
import {
  kubeletClientSigner,
  kubeletServingSigner,
  type RequestSummary,
  summaryObject,
  summaryOf,
} from './certificate-request.ts';
import { inTurns, pendingPerClientMax, requestSizeMax, triageRequests } from './triage-requests.ts';

const summary = (change: Partial<RequestSummary> & { readonly name: string }): RequestSummary => ({
  uid: `uid-${change.name}`,
  signerName: kubeletClientSigner,
  username: 'system:bootstrap:abc123',
  isDecided: false,
  size: 600,
  age: [1000, 1],
  ...change,
});
const names = (requests: readonly RequestSummary[]): readonly string[] => requests.map(({ name }) => name);
const refusedNames = (refused: readonly { readonly request: RequestSummary }[]): readonly string[] =>
  names(refused.map(({ request }) => request));

describe('of the requests of one client', () => {
  test('only the newest is decided, by the second and within it by the version', () => {
    const triage = triageRequests([
      summary({ name: 'old', age: [1000, 1] }),
      summary({ name: 'new', age: [2000, 3] }),
      summary({ name: 'same-second', age: [2000, 2] }),
    ]);
    expect(names(triage.decide)).toEqual(['new']);
    expect(triage.superseded).toMatchObject([
      { request: { name: 'same-second' }, reason: 'the same kubelet asked again later: new' },
      { request: { name: 'old' } },
    ]);
    expect(triage.remove).toEqual([]);
  });

  test('one that was decided does not count, and those for two signers are two', () => {
    const triage = triageRequests([
      summary({ name: 'pending' }),
      summary({ name: 'denied', age: [2000, 2], isDecided: true }),
      summary({ name: 'serving', age: [3000, 3], signerName: kubeletServingSigner }),
    ]);
    expect(names(triage.decide)).toEqual(['pending', 'serving']);
    expect(triage.superseded).toEqual([]);
  });

  test('those beyond the limit are removed, the oldest, and the newest is still decided', () => {
    const many = Array.from({ length: pendingPerClientMax + 5 }, (_, n) => summary({ name: `n${n}`, age: [n, n] }));
    const triage = triageRequests(many);
    expect(names(triage.decide)).toEqual([`n${pendingPerClientMax + 4}`]);
    expect(refusedNames(triage.remove)).toEqual(['n4', 'n3', 'n2', 'n1', 'n0']);
  });

  test('renewals are left to the controller manager', () => {
    const renewal = { name: 'renewal', username: 'system:node:worker-0' };
    expect(triageRequests([summary(renewal)]).decide).toEqual([]);
    expect(names(triageRequests([summary({ ...renewal, signerName: kubeletServingSigner })]).decide)).toEqual([
      'renewal',
    ]);
  });
});

describe('a flood', () => {
  test('of one client leaves the order of the others as it is: who asked first is first', () => {
    const flood = Array.from({ length: 5000 }, (_, n) => summary({ name: `f${n}`, username: 'flood', age: [n, n] }));
    const honest = ['a', 'b'].map((name, n) => summary({ name, username: name, age: [100 + n, n] }));
    expect(names(triageRequests([...flood, ...honest]).decide)).toEqual(['a', 'b', 'f4999']);
  });

  test('of requests larger than any kubelet makes is removed, and never counts as the newest', () => {
    const large = summary({ name: 'large', size: requestSizeMax + 1, age: [9000, 9] });
    const triage = triageRequests([summary({ name: 'small' }), large]);
    expect(names(triage.decide)).toEqual(['small']);
    expect(triage.remove).toMatchObject([{ request: large, reason: expect.stringContaining('65537 bytes') }]);
  });

  test('costs little memory: of what a request asks for, the summary keeps the size alone', () => {
    const kept = summaryObject({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: {
        name: 'x',
        uid: 'u',
        resourceVersion: '7',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { a: 'b' },
      },
      spec: {
        request: Buffer.alloc(1_400_000).toString('base64'),
        signerName: kubeletClientSigner,
        username: 'system:bootstrap:abc123',
        usages: ['client auth'],
      },
    });
    expect(JSON.stringify(kept).length).toBeLessThan(600);
    expect(summaryOf(kept)).toEqual({
      name: 'x',
      uid: 'u',
      signerName: kubeletClientSigner,
      username: 'system:bootstrap:abc123',
      isDecided: false,
      size: 1_400_000,
      age: [Date.parse('2026-01-01T00:00:00Z'), 7],
    });
  });
});

describe('the turns of machines', () => {
  const token = (id: string, pool: string, issuedToAddress?: string): BootstrapToken => ({
    id,
    pool,
    expiresAt: new Date(0),
    resourceVersion: '1',
    ...(issuedToAddress === undefined ? {} : { issuedToAddress }),
  });
  const asks = (id: string): RequestSummary => summary({ name: id, username: `system:bootstrap:${id}` });

  test('who holds a thousand tokens waits behind those who hold one, and masters come first in each turn', () => {
    const greedy = Array.from({ length: 1000 }, (_, n) => `g${String(n).padStart(5, '0')}`);
    const tokens = [
      ...greedy.map((id) => token(id, 'worker', '10.0.0.66')),
      token('honest', 'worker', '10.0.0.21'),
      token('master', 'master', '10.0.0.11'),
    ];
    const requests = [...greedy, 'honest', 'master'].map(asks);
    expect(names(inTurns(requests, tokens).slice(0, 4))).toEqual(['master', 'g00000', 'honest', 'g00001']);
  });

  test('the pools of one address are apart, unknown tokens are one origin, and each node is one', () => {
    const tokens = [token('aaaaaa', 'worker', '10.0.0.21'), token('bbbbbb', 'infra', '10.0.0.21')];
    const serving = ['a', 'b'].map((name) =>
      summary({ name, username: `system:node:${name}`, signerName: kubeletServingSigner }),
    );
    const requests = [asks('uuuuu1'), asks('uuuuu2'), ...serving, asks('aaaaaa'), asks('bbbbbb')];
    expect(names(inTurns(requests, tokens))).toEqual(['uuuuu1', 'a', 'b', 'aaaaaa', 'bbbbbb', 'uuuuu2']);
  });
});
