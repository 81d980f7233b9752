// How long a release build takes: with nothing to do (always), and the very first one (--first: twelve minutes, fresh
// caches of Go and of ours). Prints what was measured on what; a loaded machine is said, not hidden.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'src/main.ts');

function seconds(args: readonly string[], env: NodeJS.ProcessEnv = process.env, show = false): number {
  const start = performance.now();
  const result = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', show ? 'inherit' : 'pipe'] });
  if (result.status !== 0) throw new Error(`${args.join(' ')} failed: ${result.stderr?.toString() ?? ''}`);
  return (performance.now() - start) / 1000;
}

function spread(name: string, runs: number, limit: number, measure: () => number): void {
  const times = Array.from({ length: runs }, measure).sort((a, b) => a - b);
  const [low = 0, middle = 0, high = 0] = [times[0], times[runs >> 1], times.at(-1)];
  const verdict = middle <= limit ? 'met' : 'MISSED';
  const figures = [low, middle, high].map((time) => time.toFixed(3)).join(' / ');
  console.log(`${name.padEnd(34)} ${figures} s   (min / median / max of ${runs}; goal ${limit} s: ${verdict})`);
}

console.log(
  `${new Date().toISOString()}  ${availableParallelism()} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1e9)} GB, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
);

if (process.argv.includes('--first')) {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
  const env = {
    ...process.env,
    FIRSTLIGHT_CACHE: join(folder, 'cache'),
    GOCACHE: join(folder, 'go-build'),
    GOMODCACHE: join(folder, 'go-mod'),
    GOFLAGS: '-modcacherw',
  };
  try {
    spread('first build, nothing cached', 1, 15 * 60, () => seconds([program, 'release', 'build'], env, true));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  seconds([program, 'release', 'build'], process.env, true);
  const compileCache = { ...process.env, NODE_COMPILE_CACHE: join(root, '.toolchain/compile-cache') };
  seconds([program, 'release', 'build'], compileCache);
  spread('bare Node', 10, 0.1, () => seconds(['-e', '0']));
  spread('release build, nothing to do', 10, 0.3, () => seconds([program, 'release', 'build'], compileCache));
}
