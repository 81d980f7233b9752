// How long a client of the API has to wait at most while a cluster is handed over: a writer at 20 writes a second and 50
// watches through the load balancer, from the first answer of the API to the end of `create cluster`. No faults here.
// node bench/handoff-gap.ts [rounds]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadReport, startLoad } from '../test/e2e/fire/load-report.ts';
import { shown, spread } from './measure.ts';

const rounds = Number(process.argv[2] ?? 3);
const launcher = new URL('../firstlight', import.meta.url).pathname;
const reports: LoadReport[] = [];

function firstlight(...args: readonly string[]): void {
  execFileSync(launcher, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

for (let round = 0; round < rounds; round += 1) {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
  const dir = join(folder, 'cluster');
  mkdirSync(dir);
  writeFileSync(join(dir, 'install-config.yaml'), 'metadata:\n  name: gap\n');
  const load = startLoad({ kubeconfig: join(dir, 'auth/kubeconfig'), writesPerSecond: 20, watches: 50 });
  try {
    firstlight('create', 'cluster', '--dir', dir);
    reports.push(await load.end());
  } finally {
    load.kill();
    firstlight('destroy', 'cluster', '--dir', dir);
    rmSync(folder, { recursive: true, force: true });
  }
}

const host = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
console.log(`${new Date().toISOString()}, ${host}, ${rounds} rounds\n`);
const of = (field: (report: LoadReport) => number): string => shown(spread(reports.map(field)), '');
console.log(`longest gap between two writes, ms  ${of(({ longestGapMs }) => longestGapMs)}  target ≤ 1000, aim 100`);
console.log(`longest time without a watch, ms    ${of(({ longestResumeMs }) => longestResumeMs)}  target ≤ 2000`);
console.log(`writes acknowledged                 ${of(({ acknowledged }) => acknowledged)}`);
console.log(`writes that were asked twice        ${of(({ retried }) => retried)}`);
console.log(`writes that failed twice            ${of(({ failed }) => failed.length)}  target 0`);
console.log(`acknowledged writes lost            ${of(({ lost }) => lost.length)}  target 0`);
console.log(`watches with a missed event         ${of(({ missed }) => missed.length)}  target 0`);
console.log(`watches that had to list again      ${of(({ relists }) => relists)}`);
for (const { gaps, failed } of reports) console.log(JSON.stringify({ gaps, failed: failed.slice(0, 5) }));
