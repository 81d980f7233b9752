import { expect, test } from 'vitest';
import { missingLine, missingText, waitingFor } from './missing.ts';
import { stageProgressKey, stageProgressText, working } from './stage-progress.ts';

const catchingUp = (behind: number) =>
  waitingFor('etcd on master-1', 'to catch up', { detail: `${behind} entries behind` });

test('a value has its words, and details do not change its key', () => {
  expect(missingText(catchingUp(12))).toBe('etcd on master-1 to catch up: 12 entries behind');
  expect(catchingUp(12).key).toBe(catchingUp(7).key);
  expect(missingText(waitingFor('master-0', '', { detail: 'boots' }))).toBe('master-0: boots');
  expect(missingLine([waitingFor('the keys'), waitingFor('master-0', 'to vote')])).toBe('the keys; master-0 to vote');
});

test('progress is what is missing, with its subject, or a piece of work', () => {
  expect(stageProgressText({ waiter: 'etcd', missing: [catchingUp(3)] })).toBe(
    'etcd waits: etcd on master-1 to catch up: 3 entries behind',
  );
  expect(stageProgressKey({ missing: [catchingUp(3), waitingFor('the keys')] })).toBe(
    'etcd on master-1 to catch up; the keys',
  );
  const compiling = working('12 packages compiled; about 3 min left in all', '12 packages compiled');
  expect([stageProgressText(compiling), stageProgressKey(compiling)]).toEqual([
    '12 packages compiled; about 3 min left in all',
    '12 packages compiled',
  ]);
});
