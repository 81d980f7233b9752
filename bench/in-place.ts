// How long one node takes by the Ignition route, from the label to the moment when it is Ready in its new boot and no
// longer cordoned, and where that time goes: phase by phase, from the record of the attempt.
// node bench/in-place.ts [rounds]
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectCluster } from '../src/cluster/cluster-kubeconfig.ts';
import { findAttempts } from '../src/cluster/in-place/observe-attempts.ts';
import { prepareAttempt } from '../src/cluster/in-place/prepare-attempt.ts';
import { startAttempt } from '../src/cluster/in-place/start-attempt.ts';
import { type InPlacePhase, inPlacePhases } from '../src/contract/in-place.ts';
import { realHost } from '../src/host/real/real-host.ts';
import type { AttemptView } from '../src/in-place/attempt-view.ts';
import type { KubernetesClient } from '../src/kubernetes/client.ts';
import { bootIdOf, isReadyNode } from '../src/kubernetes/node-object.ts';
import type { KubernetesObject } from '../src/kubernetes/object.ts';
import { shown, spread } from './measure.ts';
import { createOwnCluster, destroyOwnCluster, writeInstallConfig } from './own-cluster.ts';

const rounds = Number(process.argv[2] ?? 3);
const limitMs = 120_000;
const node = 'worker-0';
const host = realHost();
const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
const dir = join(folder, 'cluster');

const totals: number[] = [];
const phases = new Map<InPlacePhase, number[]>();

async function readNode(client: KubernetesClient): Promise<KubernetesObject> {
  return client.get({ apiVersion: 'v1', kind: 'Node', name: node }, { signal });
}

function isInUse(seen: KubernetesObject, bootBefore: string | undefined): boolean {
  const { unschedulable = false } = seen['spec'] as { readonly unschedulable?: boolean };
  return isReadyNode(seen) && !unschedulable && bootIdOf(seen) !== bootBefore;
}

/** From the moment when the API has the label. */
async function measureRound(client: KubernetesClient): Promise<number> {
  const call = { host, client, signal };
  const bootBefore = bootIdOf(await readNode(client));
  await prepareAttempt(call, node, { os: 'rhcos', hours: 2 });
  const { attemptId } = await startAttempt(call, node);
  const startMs = performance.now();
  for (;;) {
    const attempt = (await findAttempts(call)).attempts.find((one) => one.attemptId === attemptId);
    if (attempt?.isEnded === true && attempt.phase !== 'Succeeded') {
      throw new Error(`the attempt ended with ${attempt.phase}: ${attempt.failure?.message}`);
    }
    if (isInUse(await readNode(client), bootBefore)) {
      const tookMs = performance.now() - startMs;
      keepPhases(await endedAttempt(client, attemptId));
      return tookMs;
    }
    if (performance.now() - startMs > limitMs) throw new Error(`${node} is not back: ${JSON.stringify(attempt)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The record is complete a moment after the node is in use. */
async function endedAttempt(client: KubernetesClient, attemptId: string): Promise<AttemptView> {
  for (;;) {
    const { attempts } = await findAttempts({ host, client, signal });
    const found = attempts.find((one) => one.attemptId === attemptId);
    if (found?.isEnded === true) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}

function keepPhases(attempt: AttemptView): void {
  for (const { phase, ms } of attempt.phases) {
    if (ms !== null) phases.set(phase, [...(phases.get(phase) ?? []), ms / 1000]);
  }
}

try {
  writeInstallConfig({ host, dir, masters: 3, workers: 2 });
  await createOwnCluster(dir);
  await using client = await connectCluster(host, dir);
  for (let round = 0; round < rounds; round += 1) totals.push((await measureRound(client)) / 1000);
} finally {
  destroyOwnCluster(dir);
  rmSync(folder, { recursive: true, force: true });
}

const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
console.log(`${new Date().toISOString()}, ${machine}, ${rounds} rounds\n`);
console.log(`label → Ready and uncordoned   ${shown(spread(totals), 's', 1).padEnd(28)} target ≤ 20 s`);
for (const phase of inPlacePhases) {
  const took = phases.get(phase);
  if (took !== undefined) console.log(`  ${phase.padEnd(28)} ${shown(spread(took), 's', 1)}`);
}
