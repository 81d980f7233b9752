import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { answerDurations } from './answer-durations.ts';

test('the text is that of prom-client for the same durations', async () => {
  const registry = new Registry();
  const buckets = [0.001, 0.5, 10];
  const theirs = new Histogram({
    name: 'a_seconds',
    help: 'Time.',
    labelNames: ['route'],
    buckets,
    registers: [registry],
  });
  const ours = answerDurations('a_seconds', 'Time.', buckets);
  for (const [route, seconds] of [
    ['config', 0.0005],
    ['config', 0.001],
    ['keys', 0.25],
    ['config', 0.5],
    ['config', 11],
  ] as const) {
    theirs.observe({ route }, seconds);
    ours.observe(route, seconds);
  }
  const lines = (text: string): readonly string[] => text.trim().split('\n').sort();
  expect(lines(ours.text())).toEqual(lines(await registry.metrics()));
});
