// `create cluster` is killed, and what runs in the machines is killed, at points drawn from a seed; the same command run
// again comes to the same end. FIRSTLIGHT_FIRE_SEED chooses another draw, FIRSTLIGHT_LONG=1 makes twelve times as many.
import { afterAll, describe, expect, test } from 'vitest';
import { repeated } from './etcd-gate.ts';
import { FireCluster, goodEnd } from './fire-cluster.ts';
import { killPlan } from './kill-plan.ts';
import { type FiredPoint, fire, pointTable } from './kill-run.ts';
import type { LoadReport } from './load-report.ts';
import { isLong } from './long.ts';

const firstSeed = Number(process.env['FIRSTLIGHT_FIRE_SEED'] ?? 1);
const rounds = Number(process.env['FIRSTLIGHT_FIRE_ROUNDS'] ?? (isLong ? 10 : 1));
const pointsPerRound = isLong ? 6 : 5;
const seeds = Array.from({ length: rounds }, (_, index) => firstSeed + index);

const all: FiredPoint[] = [];
const loads: LoadReport[] = [];

afterAll(() => {
  process.stdout.write(`\n${pointTable(all)}\n`);
  for (const { longestGapMs, longestGapAt, cuts, retried, failed, acknowledged, gaps } of loads) {
    process.stdout.write(
      `load: ${acknowledged} writes acknowledged, ${retried} asked twice, ${failed.length} failed; watches cut ${cuts} times; ` +
        `longest gap ${longestGapMs} ms at ${longestGapAt}; gaps ${gaps.map(({ ms }) => ms).join(', ')} ms\n`,
    );
  }
});

describe('a cluster that is made under fire', () => {
  test.each(seeds)('comes to the same end and does nothing twice, seed %i', async (seed) => {
    const plan = killPlan(seed, pointsPerRound);
    await using cluster = new FireCluster({ name: `fire-${seed}`, load: { writesPerSecond: 20, watches: 50 } });
    const points = await fire(cluster, plan, seed);
    all.push(...points);
    await cluster.finish();
    expect(await cluster.end()).toEqual(goodEnd);
    const report = await cluster.endLoad();
    loads.push(report);
    expect(report.lost).toEqual([]);
    expect(report.missed).toEqual([]);
    expect(points).toHaveLength(plan.length);
    // An answer was lost as well: nothing may have been done a second time because of it.
    expect(cluster.gate === undefined ? [] : repeated(cluster.gate)).toEqual([]);
  });
});
