import { describe, expect, test } from 'vitest';
import { type LedEtcdOptions, ledEtcd } from '../../test/led-etcd.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import { passLeadership } from './pass-leadership.ts';

async function pass(options: Omit<LedEtcdOptions, 'clock' | 'onCall'>) {
  const { clock } = fakeHost();
  const calls: string[] = [];
  const etcd = ledEtcd({ clock, ...options, onCall: (call) => calls.push(call) });
  const { clients, ownUrl: url } = etcd;
  const passed = await passLeadership({ clients, clock, url, signal: new AbortController().signal });
  return { passed, calls, leader: etcd.leader(), tookMs: clock.monotonicMs() };
}

const three = [
  { name: 'master-0', applied: 9 },
  { name: 'master-1', applied: 7 },
  { name: 'master-2', applied: 8 },
];

describe('the leadership of etcd', () => {
  test('goes to the voter that has applied the most, and counts as passed when that one says so', async () => {
    const { passed, calls, leader } = await pass({ members: three, leader: 'master-0' });
    expect({ passed, leader }).toEqual({ passed: { status: 'passed', to: 'master-2' }, leader: 'master-2' });
    expect(calls.slice(-2)).toEqual(['master-0: move to master-2', 'master-2: status']);
  });

  test('is waited for until the other member knows that it leads', async () => {
    const { passed, tookMs } = await pass({ members: three, leader: 'master-0', noticesAfterMs: 400 });
    expect(passed).toEqual({ status: 'passed', to: 'master-2' });
    expect(tookMs).toBeGreaterThanOrEqual(400);
  });

  test('is not waited for without end', async () => {
    const { passed, tookMs } = await pass({ members: three, leader: 'master-0', noticesAfterMs: 60_000 });
    expect(passed).toMatchObject({ status: 'not-passed', reason: expect.stringContaining('master-2') });
    expect(tookMs).toBeLessThanOrEqual(3_000);
  });

  test('stays where it is if this member does not have it', async () => {
    const { passed, calls } = await pass({ members: three, leader: 'master-1' });
    expect(passed).toEqual({ status: 'not-leader' });
    expect(calls).toEqual(['master-0: status']);
  });

  test('is never given to a learner, and a member that is gone leaves time for one that answers', async () => {
    const members = [
      { name: 'master-0' },
      { name: 'master-1', applied: 9, isLearner: true },
      { name: 'master-2', applied: 8, isSilent: true },
      { name: 'master-3', applied: 7 },
    ];
    expect((await pass({ members, leader: 'master-0' })).passed).toEqual({ status: 'passed', to: 'master-3' });
  });

  test.each([
    ['there is no other member', [{ name: 'master-0' }], 'no other voting member answers'],
    ['no other member answers', [{ name: 'master-0' }, { name: 'master-1', isSilent: true }], 'no other voting member'],
    ['this member does not answer', [{ name: 'master-0', isSilent: true }], 'this machine does not answer'],
  ])('is not passed where %s', async (_, members, reason) => {
    const { passed, leader, tookMs } = await pass({ members, leader: 'master-0' });
    expect(passed).toMatchObject({ status: 'not-passed', reason: expect.stringContaining(reason) });
    expect(leader).toBe('master-0');
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });
});
