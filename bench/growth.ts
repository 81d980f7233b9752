// How time, CPU and memory of `create cluster` grow with masters and with workers. Every case is a cluster of its own;
// results are kept in growth.json, so that a long series can be measured in parts, and drawn from there.
// node bench/growth.ts 1x0 3x0 5x0 3x2 …     masters x workers; without cases only the picture is drawn
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { realHost } from '../src/host/real/real-host.ts';
import { clusterGroup } from '../src/platform/local/cluster-folder.ts';
import { waitUntilComplete } from './cluster-complete.ts';
import { startMeter } from './cluster-meter.ts';
import { type GrowthPoint, growthSvg } from './growth-plot.ts';
import {
  createOwnCluster,
  destroyOwnCluster,
  ownEtcdFiles,
  ownName,
  ownTimes,
  writeInstallConfig,
} from './own-cluster.ts';
import { inTurn } from './turn.ts';

interface Kept {
  readonly date: string;
  readonly machine: string;
  readonly points: readonly GrowthPoint[];
}

const host = realHost();
const keptFile = new URL('growth.json', import.meta.url).pathname;
const picture = new URL('../docs/growth.svg', import.meta.url).pathname;

async function measure(masters: number, workers: number): Promise<GrowthPoint> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
  const dir = join(folder, 'cluster');
  writeInstallConfig({ host, dir, masters, workers });
  let name: string | undefined;
  const meter = startMeter(() => (name === undefined ? undefined : clusterGroup(name)));
  const naming = setInterval(() => void ownName({ host, dir }).then((found) => (name ??= found)), 50);
  try {
    const command = await createOwnCluster(dir);
    const endMs = await waitUntilComplete({
      host,
      cluster: name ?? '',
      masters: Array.from({ length: masters }, (_, index) => `master-${index}`),
      workers: Array.from({ length: workers }, (_, index) => `worker-${index}`),
      kubeconfig: () => readFileSync(join(dir, 'auth/kubeconfig'), 'utf8'),
      etcdFiles: ownEtcdFiles,
    });
    const cost = meter.stop();
    const { bootAtMs, assetsFromMs, assetsToMs } = await ownTimes({ host, dir });
    return {
      masters,
      workers,
      seconds: (endMs - bootAtMs + assetsToMs - assetsFromMs) / 1000,
      cpuSeconds: cost.cpuBetween(0, endMs) + command.cpuBetween(0, endMs),
      memoryMb: cost.peakMemoryMb,
    };
  } finally {
    clearInterval(naming);
    meter.stop();
    destroyOwnCluster(dir);
    rmSync(folder, { recursive: true, force: true });
  }
}

function kept(): readonly GrowthPoint[] {
  try {
    return (JSON.parse(readFileSync(keptFile, 'utf8')) as Kept).points;
  } catch {
    return [];
  }
}

for (const wanted of process.argv.slice(2)) {
  const [masters = 3, workers = 0] = wanted.split('x').map(Number);
  const point = await inTurn(() => measure(masters, workers));
  console.error(JSON.stringify(point), `load ${loadavg()[0]?.toFixed(1)}`);
  const others = kept().filter((other) => other.masters !== masters || other.workers !== workers);
  const next: Kept = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1e9)} GB`,
    points: [...others, point].toSorted((a, b) => a.masters - b.masters || a.workers - b.workers),
  };
  writeFileSync(keptFile, `${JSON.stringify(next, null, 2)}\n`);
}
const points = kept();
if (points.length === 0) throw new Error('nothing was measured yet: name cases, such as 1x0 3x0 5x0 3x2 3x4 3x8');
writeFileSync(picture, growthSvg('create cluster, from the boot of the machines, on two cores', points));
for (const { masters, workers, seconds, cpuSeconds, memoryMb } of points) {
  const columns = [
    `${masters} masters`,
    `${workers} workers`,
    `${seconds.toFixed(1)} s`,
    `CPU ${cpuSeconds.toFixed(1)} s`,
  ];
  console.log(`${columns.join('  ')}  ${memoryMb.toFixed(0)} MB`);
}
