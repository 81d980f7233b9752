import { expect, test } from 'vitest';
import { mergedRecord, type RunMoment, type RunRecord, stageMoments } from './run-record.ts';

const moment = (machine: string, atMs: number): RunMoment => ({ machine, atMs, by: 'x', step: 'x', state: 'began' });
const record = (...moments: readonly RunMoment[]): RunRecord => ({ format: 1, cluster: 'c', moments: [...moments] });

test('what is kept of a machine that is gone stays, what is kept of one that is there is read anew', () => {
  const kept = record(moment('create cluster', 10), moment('bootstrap', 12), moment('master-0', 13));
  const seen = record(moment('create cluster', 10), moment('master-0', 13), moment('master-0', 15));
  expect(mergedRecord(kept, seen).moments.map(({ machine, atMs }) => `${machine} ${atMs}`)).toEqual([
    'create cluster 10',
    'bootstrap 12',
    'master-0 13',
    'master-0 15',
  ]);
});

test('an earlier cluster of the same folder is not mixed into a new run', () => {
  const kept = record(moment('bootstrap', 12), moment('worker-0', 13));
  const seen = record(moment('create cluster', 100), moment('master-0', 101));
  expect(mergedRecord(kept, seen).moments.map(({ machine }) => machine)).toEqual(['create cluster', 'master-0']);
});

test('with nothing left to look at, the record is what was kept', () => {
  const kept = record(moment('create cluster', 10), moment('bootstrap', 12));
  expect(mergedRecord(kept, record()).moments).toEqual(kept.moments);
});

test('a stage that was found done took no time and makes no moment', () => {
  const at = '2026-01-01T00:00:02.000Z';
  const began = '2026-01-01T00:00:01.000Z';
  const records = [
    { kind: 'stage', at, stage: 'assets' },
    { kind: 'stage', at, began, stage: 'machines' },
  ];
  expect(stageMoments(records).map(({ step, state, atMs }) => [step, state, atMs])).toEqual([
    ['machines', 'began', Date.parse(began)],
    ['machines', 'done', Date.parse(at)],
  ]);
});
