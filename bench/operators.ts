// What the operators of a release cost: the time from Ready nodes to all of them Available, and, when nothing changes, the
// processor time and the memory of the version operator and of the pods of add-ons.
// node bench/operators.ts [rounds]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { realHost } from '../src/host/real/real-host.ts';
import { readJournal } from '../src/workflow/journal.ts';
import { shown, spread } from './measure.ts';
import { createOwnCluster, destroyOwnCluster, writeInstallConfig } from './own-cluster.ts';
import { processCpu } from './process-cpu.ts';

const rounds = Number(process.argv[2] ?? 3);
const launcher = new URL('../firstlight', import.meta.url).pathname;
const host = realHost();
/** What a cluster needs to settle after its last operator is Available. */
const settleMs = 60_000;
const idleMs = 60_000;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** How long a stage of the command took. */
async function stageSeconds(dir: string, stage: string): Promise<number> {
  const records = await readJournal(host.files, join(dir, '.firstlight/cluster-journal'));
  const record = records.findLast((each) => each['stage'] === stage && typeof each['began'] === 'string');
  if (record === undefined) throw new Error(`the journal has no time of ${stage}`);
  return (Date.parse(record.at) - Date.parse(String(record['began']))) / 1000;
}

/** Processes of this host, whichever machine they are in, by their command line. */
function processOf(pattern: RegExp): number {
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => {
      try {
        return pattern.test(readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
      } catch {
        return false;
      }
    });
  if (pid === undefined) throw new Error(`no process is called ${pattern.source}`);
  return Number(pid);
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** Memory and processor time of the pods of add-ons, as metrics-server says it: namespace, name, millicores, MiB. */
function addOnUse(dir: string): { readonly mb: number; readonly milliCores: number } {
  const args = ['kubectl', '--dir', dir, 'top', 'pods', '--all-namespaces', '--no-headers'];
  const lines = execFileSync(launcher, args, { encoding: 'utf8' }).trim().split('\n');
  const rows = lines
    .map((line) => line.split(/\s+/))
    .filter(([, name = '']) => /^(router|registry|metrics|local-path)/.test(name));
  const sum = (column: number): number =>
    rows.reduce((total, row) => total + Number.parseInt(row[column] ?? '', 10), 0);
  return { milliCores: sum(2), mb: (sum(3) * 2 ** 20) / 1e6 };
}

const figures = {
  available: [] as number[],
  cpu: [] as number[],
  mb: [] as number[],
  addOnMb: [] as number[],
  addOnCpu: [] as number[],
};
for (let round = 0; round < rounds; round += 1) {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
  const dir = join(folder, 'cluster');
  try {
    writeInstallConfig({ host, dir, masters: 3, workers: 1 });
    await createOwnCluster(dir);
    figures.available.push(await stageSeconds(dir, 'operators'));
    await pause(settleMs);
    const pid = processOf(/firstlight\.mjs version-operator run/);
    const before = processCpu(pid).seconds;
    await pause(idleMs);
    figures.cpu.push(((processCpu(pid).seconds - before) / idleMs) * 1e6);
    figures.mb.push(residentMb(pid));
    const { mb, milliCores } = addOnUse(dir);
    figures.addOnMb.push(mb);
    figures.addOnCpu.push(milliCores);
  } finally {
    destroyOwnCluster(dir);
    rmSync(folder, { recursive: true, force: true });
  }
}

const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
console.log(`${new Date().toISOString()}, ${machine}, ${rounds} rounds\n`);
console.log(`from Ready nodes to every operator Available   ${shown(spread(figures.available), 's', 1)}`);
console.log(
  `memory of the version operator                 ${shown(spread(figures.mb), 'MB', 1).padEnd(28)} target ≤ 90 MB`,
);
console.log(`CPU of a second while idle                     ${shown(spread(figures.cpu), 'ms', 2)}`);
console.log(`memory of all add-ons                          ${shown(spread(figures.addOnMb), 'MB', 0)}`);
console.log(`CPU of a second of all add-ons                 ${shown(spread(figures.addOnCpu), 'ms', 0)}`);
