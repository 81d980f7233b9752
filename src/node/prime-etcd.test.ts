import { describe, expect, test } from 'vitest';
import { isCaughtUp } from './prime-etcd.ts';

describe('a member has its data', () => {
  const metrics = (leader: number, applied: string, committed: string): string =>
    [
      '# TYPE etcd_server_has_leader gauge',
      `etcd_server_has_leader ${leader}`,
      `etcd_server_proposals_applied_total ${applied}`,
      `etcd_server_proposals_committed_total ${committed}`,
      '',
    ].join('\n');
  test.each([
    ['when it has applied all that is agreed on', metrics(1, '1629', '1629'), true],
    ['also when the numbers are large', metrics(1, '1.234567e+06', '1.234567e+06'), true],
    ['not before anything is applied', metrics(1, '0', '0'), false],
    ['not while it applies', metrics(1, '120', '1629'), false],
    ['not without a leader', metrics(0, '1629', '1629'), false],
    ['not when it does not say', '', false],
  ])('%s', (_title, text, expected) => {
    expect(isCaughtUp(text)).toBe(expected);
  });
});
