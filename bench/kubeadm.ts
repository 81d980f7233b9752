// Firstlight against kubeadm: the same machines, programs and images, in turn, in one run. Both clocks start with
// machines booted and idle and end with three Ready masters, three voters, CoreDNS and kube-proxy ready; ours includes
// the whole handoff and the removal of the bootstrap machine.
// node bench/kubeadm.ts [rounds]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { realHost } from '../src/host/real/real-host.ts';
import { clusterGroup } from '../src/platform/local/cluster-folder.ts';
import { machineImage } from '../src/release/machine-image.ts';
import { readParts } from '../src/release/parts/parts.ts';
import { waitUntilComplete } from './cluster-complete.ts';
import { startMeter } from './cluster-meter.ts';
import { startProgramMeter } from './cpu-by-program.ts';
import { destroyKubeadm, kubeadmImages, kubeadmMasters, type PartVersions, prepareKubeadm } from './kubeadm-cluster.ts';
import { writeProxyImage } from './kubeadm-image.ts';
import { shown, spread } from './measure.ts';
import {
  createOwnCluster,
  destroyOwnCluster,
  ownEtcdFiles,
  ownName,
  ownTimes,
  writeInstallConfig,
} from './own-cluster.ts';
import { inTurn } from './turn.ts';

interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMb: number;
  readonly chargedMb: number;
  readonly programs: ReadonlyMap<string, number>;
}

const rounds = Number(process.argv[2] ?? 3);
const host = realHost();
const launcher = new URL('../firstlight', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));

async function kubeadmRound(round: number, tools: { kubeadm: string; proxyArchive: string }): Promise<Round> {
  const cluster = `bench-kubeadm-${round}`;
  const versions = await partVersions();
  const images = kubeadmImages(tools.kubeadm, versions, folder);
  let isRunning = false;
  const group = (): string | undefined => (isRunning ? clusterGroup(cluster) : undefined);
  const meter = startMeter(group);
  const programs = startProgramMeter(group);
  try {
    const prepared = await prepareKubeadm({ host, cluster, folder, versions, images, ...tools });
    isRunning = true;
    await pause(2_000);
    const startMs = Date.now();
    await prepared.run();
    const endMs = await waitUntilComplete({
      host,
      cluster,
      masters: kubeadmMasters,
      workers: [],
      kubeconfig: prepared.kubeconfig,
      etcdFiles: {
        ca: '/etc/kubernetes/pki/etcd/ca.crt',
        certificate: '/etc/kubernetes/pki/etcd/healthcheck-client.crt',
        key: '/etc/kubernetes/pki/etcd/healthcheck-client.key',
      },
    });
    const cost = meter.stop();
    return {
      seconds: (endMs - startMs) / 1000,
      cpuSeconds: cost.cpuBetween(startMs, endMs),
      memoryMb: cost.peakMemoryMb,
      chargedMb: cost.peakChargedMb,
      programs: programs.stop(),
    };
  } finally {
    meter.stop();
    programs.stop();
    destroyKubeadm(cluster);
  }
}

async function ownRound(round: number): Promise<Round & { readonly withBoot: number }> {
  const dir = join(folder, `own-${round}`);
  writeInstallConfig({ host, dir, masters: 3, workers: 0 });
  let name: string | undefined;
  const group = (): string | undefined => (name === undefined ? undefined : clusterGroup(name));
  const meter = startMeter(group);
  const programs = startProgramMeter(group);
  const naming = setInterval(() => void ownName({ host, dir }).then((found) => (name ??= found)), 50);
  try {
    const command = await createOwnCluster(dir);
    const endMs = await waitUntilComplete({
      host,
      cluster: name ?? '',
      masters: ['master-0', 'master-1', 'master-2'],
      workers: [],
      kubeconfig: () => readFileSync(join(dir, 'auth/kubeconfig'), 'utf8'),
      etcdFiles: ownEtcdFiles,
    });
    const cost = meter.stop();
    const { idleAtMs, bootAtMs, assetsFromMs, assetsToMs } = await ownTimes({ host, dir });
    const assetsMs = assetsToMs - assetsFromMs;
    const ofCommand = command.cpuBetween(assetsFromMs, assetsToMs) + command.cpuBetween(idleAtMs, endMs);
    return {
      seconds: (endMs - idleAtMs + assetsMs) / 1000,
      withBoot: (endMs - bootAtMs + assetsMs) / 1000,
      cpuSeconds: cost.cpuBetween(idleAtMs, endMs) + ofCommand,
      memoryMb: cost.peakMemoryMb,
      chargedMb: cost.peakChargedMb,
      programs: new Map([...programs.stop(), ['firstlight create cluster', ofCommand]]),
    };
  } finally {
    clearInterval(naming);
    meter.stop();
    programs.stop();
    destroyOwnCluster(dir);
  }
}

async function partVersions(): Promise<PartVersions> {
  const { parts } = await readParts(host, new URL('../upstream', import.meta.url).pathname);
  return Object.fromEntries(parts.map(({ name, version }) => [name, version]));
}

function pause(ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ms));
}

/** The release, and kubeadm by the same build. */
async function prepare(): Promise<{ kubeadm: string; proxyArchive: string }> {
  execFileSync(launcher, ['release', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const built = execFileSync(launcher, ['release', 'build', '--part', 'kubeadm', '-o', 'json'], { encoding: 'utf8' });
  const { cache, entries } = JSON.parse(built) as {
    readonly cache: string;
    readonly entries: readonly { readonly name: string; readonly key: string }[];
  };
  const key = entries.find(({ name }) => name === 'kubeadm')?.key ?? '';
  const proxyArchive = join(folder, 'kube-proxy.tar');
  await writeProxyImage(host, (await machineImage(host)).rootFolder, proxyArchive);
  return { kubeadm: join(cache, 'part/kubeadm', key, 'content/bin/kubeadm'), proxyArchive };
}

function tell(name: string, round: Round | undefined): void {
  if (round === undefined) return;
  const { seconds, cpuSeconds, programs } = round;
  const most = [...programs].slice(0, 12).map(([program, used]) => `${program} ${used.toFixed(1)}`);
  console.error(`${name}  ${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s: ${most.join(', ')}`);
}

function byProgram(results: readonly Round[]): string {
  const names = new Set(results.flatMap(({ programs }) => [...programs.keys()]));
  const medians = [...names].map((name) => {
    const { median } = spread(results.map(({ programs }) => programs.get(name) ?? 0));
    return [name, median] as const;
  });
  const shownOnes = medians.filter(([, median]) => median >= 0.3).toSorted(([, a], [, b]) => b - a);
  const known = spread(results.map(({ programs }) => [...programs.values()].reduce((sum, used) => sum + used, 0)));
  return `${shownOnes.map(([name, median]) => `${name} ${median.toFixed(1)}`).join(', ')}; all that was seen ${known.median.toFixed(1)}`;
}

function table(name: string, results: readonly Round[]): string {
  const of = (pick: (round: Round) => number, unit: string, digits = 1): string =>
    shown(spread(results.map(pick)), unit, digits);
  return `| ${name} | ${of((r) => r.seconds, 's')} | ${of((r) => r.cpuSeconds, 's')} | ${of((r) => r.memoryMb, 'MB', 0)} | ${of((r) => r.chargedMb, 'MB', 0)} |`;
}

try {
  const tools = await prepare();
  const theirs: Round[] = [];
  const ours: (Round & { readonly withBoot: number })[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await inTurn(async () => {
      theirs.push(await kubeadmRound(round, tools));
      tell('kubeadm', theirs.at(-1));
      ours.push(await ownRound(round));
      tell('firstlight', ours.at(-1));
    });
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1e9)} GB`;
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${machine}, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds\n`,
  );
  console.log('| | machines idle to cluster | CPU | peak memory | with page cache |\n|---|---|---|---|---|');
  console.log(table('kubeadm 1.37.1', theirs));
  console.log(table('firstlight', ours));
  console.log(`\nfirstlight with the boot of the machines: ${shown(spread(ours.map((r) => r.withBoot)), 's', 1)}`);
  for (const [name, results] of [
    ['kubeadm', theirs],
    ['firstlight', ours],
  ] as const) {
    console.log(`\nCPU seconds of ${name} by program, medians: ${byProgram(results)}`);
  }
  const ratios = ours.map((own, index) => own.seconds / (theirs[index]?.seconds ?? Number.NaN));
  console.log(`ratio round by round: ${shown(spread(ratios), '', 2)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
