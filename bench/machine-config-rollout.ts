// How long a change that needs a reboot takes from its MachineConfig to the last of two workers that is in use again, while a
// Deployment of two with a budget of one runs on them, and what its client sees; and the same for a change without a reboot.
// node bench/machine-config-rollout.ts [rounds]
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { realHost } from '../src/host/real/real-host.ts';
import {
  applyMachineConfig,
  applyObjects,
  type ConfigCluster,
  disruptionPolicies,
  liveFolder,
  rollOut,
  workers,
} from '../test/e2e/machine-config/config-lab.ts';
import { rebootsOf, watchNodes } from '../test/e2e/machine-config/node-watch.ts';
import { deployWeb, startWebClient, type WebReport } from '../test/e2e/machine-config/web-load.ts';
import { shown, spread } from './measure.ts';
import { createOwnCluster, destroyOwnCluster, ownName, writeInstallConfig } from './own-cluster.ts';

const rounds = Number(process.argv[2] ?? 3);
const host = realHost();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
const dir = join(folder, 'cluster');
const rebooting: number[] = [];
const live: number[] = [];
const reports: WebReport[] = [];

async function change(cluster: ConfigCluster, name: string, path: string, text: string): Promise<number> {
  return rollOut(cluster, { seconds: 120 }, () => applyMachineConfig(cluster, { name, files: [{ path, text }] }));
}

try {
  writeInstallConfig({ host, dir, masters: 3, workers: workers.length });
  await createOwnCluster(dir);
  const name = (await ownName({ host, dir })) ?? '';
  const cluster: ConfigCluster = { dir, folder, infraId: () => name };
  await applyObjects(cluster, disruptionPolicies());
  const url = await deployWeb(cluster);
  for (let round = 0; round < rounds; round += 1) {
    const client = startWebClient(cluster, 'master-0', { url, perSecond: 20 });
    const watch = watchNodes(cluster, workers);
    rebooting.push(await change(cluster, '60-bench', '/etc/bench.conf', `round ${round}\n`));
    const story = await watch.end();
    reports.push(await client.end());
    const reboots = workers.map((worker) => rebootsOf(story, worker));
    if (reboots.join() !== '1,1') throw new Error(`the workers rebooted ${reboots.join(' and ')} times`);
  }
  for (let round = 0; round < rounds; round += 1)
    live.push(await change(cluster, '61-bench', `${liveFolder}/bench`, `${round}\n`));
} finally {
  destroyOwnCluster(dir);
  rmSync(folder, { recursive: true, force: true });
}

const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
console.log(`${new Date().toISOString()}, ${machine}, ${rounds} rounds\n`);
console.log(`a reboot of two workers      ${shown(spread(rebooting), 's', 1).padEnd(30)} target ≤ 25 s`);
console.log(`a change without a reboot    ${shown(spread(live), 's', 1)}`);
console.log(`requests that were asked     ${reports.map(({ asked }) => asked).join(', ')}`);
console.log(`… asked twice                ${reports.map(({ retried }) => retried).join(', ')}`);
console.log(`… failed twice               ${reports.map(({ failed }) => failed.length).join(', ')}  target 0`);
