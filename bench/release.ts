// How long a release build takes. Always: with nothing to do, beside bare Node in the same run. With --first: the very
// first build, with fresh caches of Go and of ours; twelve minutes, so only when asked for.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alternate, shown, spread } from './measure.ts';

const goals = { firstMinutes: 15, nothingToDoMs: 300 };
const root = fileURLToPath(new URL('..', import.meta.url));
const build = [process.execPath, join(root, 'src/main.ts'), 'release', 'build'] as const;

const machine = `${availableParallelism()} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1e9)} GB`;
console.log(`${new Date().toISOString()}  ${machine}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`);
if (process.argv.includes('--first')) firstBuild();
else nothingToDo();

function firstBuild(): void {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
  const caches = { FIRSTLIGHT_CACHE: 'cache', GOCACHE: 'go-build', GOMODCACHE: 'go-mod' };
  const fresh = Object.fromEntries(Object.entries(caches).map(([name, place]) => [name, join(folder, place)]));
  const env = { ...process.env, ...fresh };
  const [program, ...args] = build;
  const start = performance.now();
  try {
    execFileSync(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const minutes = (performance.now() - start) / 60_000;
    const verdict = minutes <= goals.firstMinutes ? 'met' : 'missed';
    console.log(
      `first build: ${minutes.toFixed(1)} min (goal ${goals.firstMinutes}: ${verdict}); load ${loadavg()[0]?.toFixed(1)}`,
    );
  } finally {
    // Go keeps its module cache read-only; it knows best how to remove it.
    execFileSync('go', ['clean', '-modcache'], { env });
    rmSync(folder, { recursive: true, force: true });
  }
}

function nothingToDo(): void {
  process.env['NODE_COMPILE_CACHE'] ??= join(root, '.toolchain/compile-cache');
  const samples = alternate(
    [
      { name: 'bare Node', argv: [process.execPath, '-e', '0'] },
      { name: 'release build', argv: build },
    ],
    15,
  );
  for (const [name, runs] of samples) {
    const [wall, cpu, memory] = [runs.map((r) => r.wallMs), runs.map((r) => r.cpuMs), runs.map((r) => r.peakMb)];
    const columns = [shown(spread(wall), 'ms'), `CPU ${shown(spread(cpu), 'ms')}`, shown(spread(memory), 'MB')];
    console.log(`${name.padEnd(14)} ${columns.join('   ')}`);
  }
  const { median } = spread((samples.get('release build') ?? []).map((sample) => sample.wallMs));
  const verdict = median <= goals.nothingToDoMs ? 'met' : 'missed';
  console.log(`nothing to do: goal ${goals.nothingToDoMs} ms: ${verdict}; load ${loadavg()[0]?.toFixed(1)}`);
}
