// The real containerd and kubelet on a real machine, with the node's own units: a static pod from a file, with images
// that were on the machine before it started.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cli, temporaryFolder } from './machine-lab.ts';
import { secondsToPod, staticPodIgnition, still } from './static-pod.ts';

const cluster = `e2e-pod-${process.pid}`;
const folder = temporaryFolder();
/** Two on a quiet host, which bench/machines.ts watches; here a hang must be told from a busy host. */
const secondsAtMost = 10;

afterAll(async () => {
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true });
});

test('a static pod runs soon after the real kubelet starts, and again after a reboot', async () => {
  const path = join(folder, 'pod.ign');
  writeFileSync(path, JSON.stringify(staticPodIgnition({ pods: { still } })));
  await cli('machine', 'create', '--cluster', cluster, '--ignition', path, 'node');
  expect(await secondsToPod(cluster, 'node')).toBeLessThan(secondsAtMost);
  await cli('machine', 'reboot', '--cluster', cluster, 'node');
  expect(await secondsToPod(cluster, 'node')).toBeLessThan(secondsAtMost);
});
