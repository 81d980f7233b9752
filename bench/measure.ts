// Runs programs alternately and keeps time, CPU and peak memory of each run, so that a ratio is taken within one run of
// the same machine. Medians with spread; never a single number.
import { spawnSync } from 'node:child_process';

export interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

export interface Contestant {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly prepare?: () => void;
}

/** One run under GNU time, which reports what wait4 says of the whole tree. */
export function runOnce({ argv, prepare }: Contestant): Sample {
  prepare?.();
  const startMs = performance.now();
  const result = spawnSync('/usr/bin/time', ['-f', '%U %S %M', ...argv], { encoding: 'utf8', env: { ...process.env } });
  const wallMs = performance.now() - startMs;
  if (result.status !== 0) throw new Error(`${argv.join(' ')} failed: ${result.stderr}`);
  const [user, system, kilobytes] = (result.stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { wallMs, cpuMs: ((user ?? 0) + (system ?? 0)) * 1000, peakMb: (kilobytes ?? 0) / 1024 };
}

/** Every contestant in turn, `rounds` times, after one round that warms the caches. */
export function alternate(contestants: readonly Contestant[], rounds: number): ReadonlyMap<string, readonly Sample[]> {
  const samples = new Map(contestants.map(({ name }) => [name, [] as Sample[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const contestant of contestants) {
      const sample = runOnce(contestant);
      if (round > 0) samples.get(contestant.name)?.push(sample);
    }
  }
  return samples;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return { median: middle, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

export function shown({ median, min, max }: Spread, unit: string, digits = 0): string {
  return `${median.toFixed(digits)} ${unit} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
}
