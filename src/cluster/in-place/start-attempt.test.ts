import { describe, expect, test } from 'vitest';
import { type AttemptSecret, readAttempt } from '../../contract/in-place.ts';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import { missingSecretKeys } from '../../in-place/attempt-secret.ts';
import { attemptView } from '../../in-place/attempt-view.ts';
import { attemptSecret } from './prepare-attempt.ts';
import { attemptToStart } from './start-attempt.ts';

const now = new Date('2026-01-01T00:00:00Z');
const facts = { clusterId: 'c-1', serviceUrl: 'https://api-int.demo.test:22623', serviceCa: 'PEM' };
const about = {
  node: 'worker-0',
  attemptId: 'a1',
  pool: 'worker',
  target: 'rendered-worker-1',
  token: 'flp_x',
  notAfter: '2026-01-01T02:00:00Z',
  facts,
};
const complete = attemptSecret(about, { os: 'rhcos', hours: 2 });

function attempt(attemptId: string, phase: string) {
  const spec = { node: 'worker-0', attemptId, os: 'rhcos', notAfter: about.notAfter, clusterId: 'c-1' };
  const read = readAttempt({ metadata: { name: `worker-0.${attemptId}` }, spec, status: { phase } });
  return read === undefined ? [] : [attemptView(read)];
}

describe('the Secret', () => {
  test('for the Ignition route leads to the config of the pool, by the target that the pool has now', () => {
    expect(complete).toEqual({
      os: 'rhcos',
      'attempt-id': 'a1',
      'not-after': '2026-01-01T02:00:00Z',
      'ignition-url': 'https://api-int.demo.test:22623/config/worker',
      'ignition-token': 'flp_x',
      'ignition-ca.crt': 'PEM',
      'node-pool': 'worker',
      'target-hash': 'rendered-worker-1',
    });
    expect(missingSecretKeys(complete)).toEqual([]);
  });

  test('for the route by payload carries the ids that the payload is made for, and what a person says wins', () => {
    const own = attemptSecret(about, { os: 'rhel', hours: 2 });
    expect(own).toMatchObject({
      'bootstrap-url': 'https://api-int.demo.test:22623/v1/payload',
      'bootstrap-token': 'flp_x',
      'worker-id': 'worker-0',
      'cluster-id': 'c-1',
      region: 'local',
    });
    expect(missingSecretKeys(own)).toEqual([]);
    const payload = { url: 'https://p.test/x', token: 't', ca: 'CA' };
    const report = { url: 'https://r.test', token: 'rt', ca: 'RCA', isRequired: true };
    expect(attemptSecret(about, { os: 'rhel', hours: 2, payload, workerId: 'w', region: 'eu', report })).toMatchObject({
      'bootstrap-url': 'https://p.test/x',
      'bootstrap-ca.crt': 'CA',
      'worker-id': 'w',
      region: 'eu',
      'report-url': 'https://r.test',
      report: 'required',
    });
  });

  test('without a system lacks what both systems need', () => {
    expect(missingSecretKeys({})).toEqual(['os', 'attempt-id', 'not-after']);
  });
});

describe('ipb start', () => {
  const decide = (secret: AttemptSecret | undefined, attempts: ReturnType<typeof attempt> = [], at = now) =>
    attemptToStart({ node: 'worker-0', secret, attempts, now: at });
  const codeOf = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      return (error as FirstlightError).code;
    }
    return 'started';
  };

  test('starts the attempt of the Secret', () => {
    expect(decide(complete)).toEqual({ node: 'worker-0', attemptId: 'a1', isResumed: false });
    expect(decide(complete, attempt('a0', 'Failed'))).toMatchObject({ isResumed: false });
  });

  test('run again, follows the attempt that it started, also when the Secret has expired meanwhile', () => {
    const later = new Date('2026-01-01T09:00:00Z');
    expect(decide(complete, attempt('a1', 'Applying'), later)).toMatchObject({ attemptId: 'a1', isResumed: true });
  });

  test.each([
    ['there is no Secret', undefined, [], 'IPB_SECRET_MISSING'],
    ['the Secret lacks a key', { ...complete, 'ignition-token': '' }, [], 'IPB_SECRET_INCOMPLETE'],
    ['the Secret has expired', { ...complete, 'not-after': '2025-12-31T23:59:59Z' }, [], 'IPB_SECRET_EXPIRED'],
    ['the Secret has a time that is none', { ...complete, 'not-after': 'soon' }, [], 'IPB_SECRET_EXPIRED'],
    ['its attempt has ended', complete, attempt('a1', 'RolledBack'), 'IPB_ATTEMPT_USED'],
    ['another attempt runs', complete, attempt('a0', 'Joining'), 'IPB_ATTEMPT_RUNNING'],
  ])('refuses where %s', (_what, secret, attempts, code) => {
    expect(codeOf(() => decide(secret, attempts))).toBe(code);
  });
});
