// Figures of the workstation half: from nothing to Ignition configs, a rerun, and what --help costs against bare Node.
// node bench/assets.ts [rounds]
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { alternate, type Contestant, shown, spread } from './measure.ts';

const rounds = Number(process.argv[2] ?? 15);
const launcher = new URL('../firstlight', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
const fresh = join(folder, 'fresh');
const kept = join(folder, 'kept');

const contestants: readonly Contestant[] = [
  { name: 'bare node', argv: [process.execPath, '-e', '0'] },
  { name: '--help', argv: [launcher, '--help'] },
  {
    name: 'from nothing',
    argv: [launcher, 'create', 'ignition-configs', '--dir', fresh],
    prepare: () => rmSync(fresh, { recursive: true, force: true }),
  },
  { name: 'rerun', argv: [launcher, 'create', 'ignition-configs', '--dir', kept] },
];

try {
  const samples = alternate(contestants, rounds);
  console.log(`${new Date().toISOString()}, ${cpus().length} × ${cpus()[0]?.model}, ${rounds} alternating rounds\n`);
  for (const { name } of contestants) {
    const own = samples.get(name) ?? [];
    const wall = shown(spread(own.map((s) => s.wallMs)), 'ms');
    const peak = shown(spread(own.map((s) => s.peakMb)), 'MB');
    console.log(`${name.padEnd(14)} ${wall.padEnd(30)} ${peak}`);
  }
  const bare = samples.get('bare node') ?? [];
  const ratios = (samples.get('--help') ?? []).map((sample, n) => sample.wallMs / (bare[n]?.wallMs ?? Number.NaN));
  console.log(`\n--help / bare node: ${shown(spread(ratios), '×', 2)}   target ≤ 1.5`);
  console.log('targets: from nothing ≤ 500 ms and ≤ 150 MB, rerun ≤ 250 ms');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
