import { expect, test } from 'vitest';
import { type BuildTaskState, remainingSeconds, roughDuration } from './progress.ts';

const task = (part: Partial<BuildTaskState>): BuildTaskState => ({
  name: 'x',
  estimateSeconds: 60,
  lane: 'compile',
  status: 'waiting',
  seconds: 0,
  ...part,
});

test.each([
  ['nothing to do is no time', [task({ status: 'ended' })], 0],
  ['tasks of one lane follow each other', [task({}), task({})], 120],
  ['lanes overlap', [task({ estimateSeconds: 100 }), task({ lane: 'system', estimateSeconds: 40 })], 100],
  ['what comes after waits for the longer lane', [task({}), task({ lane: 'after', estimateSeconds: 5 })], 65],
  ['what runs counts down', [task({ status: 'running', seconds: 45 })], 15],
  ['what takes longer than expected is not negative', [task({ status: 'running', seconds: 90 })], 0],
  ['a machine twice as slow is noticed', [task({ status: 'ended', seconds: 180 }), task({})], 120],
  ['what was kept says nothing about speed', [task({ status: 'ended', seconds: 0 }), task({})], 60],
])('%s', (_, tasks, seconds) => {
  expect(remainingSeconds(tasks)).toBeCloseTo(seconds);
});

test('an estimate does not pretend to be exact', () => {
  expect([3, 47, 100, 440].map(roughDuration)).toEqual(['a few seconds', 'about 50 s', 'about 2 min', 'about 7 min']);
});
