// What a client of the API saw from its first answer to the end of the handoff.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoadReport } from '../fire/load-report.ts';
import { type TrustCluster, trustKubectlJson } from '../trust/trust-cluster.ts';

export function handoffClientTopic(cluster: TrustCluster, load: () => LoadReport): void {
  test('loses nothing that was acknowledged, and needs no more than one retry', () => {
    expect({ lost: load().lost, failed: load().failed }).toEqual({ lost: [], failed: [] });
    expect(load().acknowledged).toBeGreaterThan(100);
  });

  test('takes up every watch where it was cut, without a missed event', () => {
    expect({ missed: load().missed, relists: load().relists }).toEqual({ missed: [], relists: 0 });
    expect(load().cuts).toBeGreaterThanOrEqual(load().watches);
  });

  test('finds only masters behind the Service of the API', async () => {
    const { subsets } = await trustKubectlJson<{ subsets: readonly { addresses: readonly { ip: string }[] }[] }>(
      cluster,
      'get',
      'endpoints',
      'kubernetes',
    );
    const inventory = JSON.parse(readFileSync(join(cluster.dir, 'inventory.json'), 'utf8')) as {
      machines: readonly { role: string; addresses: readonly string[] }[];
    };
    const addressed = inventory.machines.filter(({ role }) => role === 'master').flatMap(({ addresses }) => addresses);
    expect(subsets.flatMap(({ addresses }) => addresses.map(({ ip }) => ip)).sort()).toEqual([...addressed].sort());
  });
}
