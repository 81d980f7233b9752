// What the duty that keeps a machine's configuration costs while nothing changes: the agent of a worker with it and without it,
// in turn, on the same machine. Memory is what is the agent's own; the pages of the Node binary are everybody's.
// node bench/config-daemon.ts [rounds]
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { realHost } from '../src/host/real/real-host.ts';
import { machinePaths } from '../src/platform/local/cluster-folder.ts';
import { pidOf } from '../test/e2e/fire/machine-processes.ts';
import { shown, spread } from './measure.ts';
import { createOwnCluster, destroyOwnCluster, ownName, writeInstallConfig } from './own-cluster.ts';
import { processCpu } from './process-cpu.ts';

const rounds = Number(process.argv[2] ?? 3);
const root = new URL('..', import.meta.url).pathname;
const launcher = join(root, 'firstlight');
const host = realHost();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
const dir = join(folder, 'cluster');
const worker = 'worker-0';
/** What an agent needs to settle and to forget what it needed for that. */
const settleMs = 40_000;
const idleMs = 30_000;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The program as it is, and the same without the line of the table that names the duty. */
function bundle(kind: 'with' | 'without'): string {
  const sources = join(folder, `sources-${kind}`);
  for (const part of ['src', 'tools', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(sources, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
  const table = join(sources, 'src/node/duties.ts');
  const lines = readFileSync(table, 'utf8').split('\n');
  const kept = lines.filter((line) => !line.includes('machineConfigDuty'));
  if (kept.length !== lines.length - 2) throw new Error('duties.ts does not name the duty twice');
  if (kind === 'without') writeFileSync(table, kept.join('\n'));
  const target = join(folder, kind);
  execFileSync(process.execPath, [join(sources, 'tools/bundle.ts'), target], { stdio: 'ignore' });
  return target;
}

function firstlight(...args: readonly string[]): string {
  return execFileSync(launcher, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Kilobytes that nobody shares with it. */
function ownMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  return ((field('Private_Clean') + field('Private_Dirty')) * 1024) / 1e6;
}

const figures = {
  with: { mb: [] as number[], cpu: [] as number[] },
  without: { mb: [] as number[], cpu: [] as number[] },
};

try {
  writeInstallConfig({ host, dir, masters: 1, workers: 1 });
  await createOwnCluster(dir);
  const cluster = (await ownName({ host, dir })) ?? '';
  const inWorker = (script: string): string =>
    firstlight('machine', 'exec', '--cluster', cluster, worker, '--', 'sh', '-c', script);
  const folders = { with: bundle('with'), without: bundle('without') };
  for (const kind of ['with', 'without'] as const) {
    const packed = execFileSync('tar', ['-C', folders[kind], '-c', '.'], { maxBuffer: 1e9 });
    const archive = join(machinePaths(cluster, worker).kubelet, `${kind}.tar`);
    writeFileSync(archive, packed);
    const there = `/opt/bench/${kind}`;
    inWorker(
      `mkdir -p ${there} && tar -C ${there} -x -f /var/lib/kubelet/${kind}.tar && rm /var/lib/kubelet/${kind}.tar`,
    );
    // Started as the machine's own, with the same flags.
    const start = `sed 's#/[^ ]*/firstlight.mjs#${there}/firstlight.mjs#' $(command -v firstlight) > ${there}/start`;
    inWorker(`${start} && chmod 755 ${there}/start`);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['with', 'without'] as const) {
      const program = `/opt/bench/${kind}/firstlight.mjs`;
      const drop = '/run/systemd/system/firstlight-agent.service.d';
      inWorker(
        `mkdir -p ${drop}; printf '[Service]\\nExecStart=\\nExecStart=/opt/bench/${kind}/start agent\\n' > ${drop}/bench.conf; ` +
          'systemctl daemon-reload; systemctl restart firstlight-agent',
      );
      await pause(settleMs);
      const pid = pidOf(cluster, worker, 'agent');
      if (pid === undefined || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program))
        throw new Error(`the agent of ${worker} does not run ${program}`);
      const before = processCpu(pid).seconds;
      await pause(idleMs);
      figures[kind].cpu.push(((processCpu(pid).seconds - before) / idleMs) * 1e6);
      figures[kind].mb.push(ownMb(pid));
    }
  }
} finally {
  destroyOwnCluster(dir);
  rmSync(folder, { recursive: true, force: true });
}

const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
console.log(`${new Date().toISOString()}, ${machine}, ${rounds} rounds\n`);
const more = figures.with.mb.map((mb, index) => mb - (figures.without.mb[index] ?? Number.NaN));
console.log(`memory of the agent's own, with the duty     ${shown(spread(figures.with.mb), 'MB', 1)}`);
console.log(`… without it                                 ${shown(spread(figures.without.mb), 'MB', 1)}`);
console.log(`… more, round by round                       ${shown(spread(more), 'MB', 1).padEnd(28)} target ≤ 3 MB`);
console.log(`CPU of a second while idle, with the duty    ${shown(spread(figures.with.cpu), 'ms', 2)}`);
console.log(`… without it                                 ${shown(spread(figures.without.cpu), 'ms', 2)}`);
