// What the machines of a cluster cost, by the kernel's own accounts: CPU seconds and memory of the control group that
// all of them are below. Read several times a second, so that any stretch of a run can be cut out afterwards.
import { existsSync, readFileSync } from 'node:fs';

/** CPU seconds up to a moment. */
export interface Used {
  readonly atMs: number;
  readonly cpuSeconds: number;
}

export interface Reading extends Used {
  /** What processes hold; the page cache is not counted, for the kernel takes it back. */
  readonly memoryMb: number;
  /** With the page cache. */
  readonly chargedMb: number;
}

export interface Meter {
  readonly stop: () => Cost;
}

export interface Cost {
  readonly readings: readonly Reading[];
  /** CPU seconds between two moments. */
  readonly cpuBetween: (fromMs: number, toMs: number) => number;
  readonly peakMemoryMb: number;
  readonly peakChargedMb: number;
}

const everyMs = 100;

/** `group` may be given before it is known: it is asked for at every reading until there is one. */
export function startMeter(group: () => string | undefined): Meter {
  const readings: Reading[] = [];
  const timer = setInterval(() => {
    const name = group();
    const reading = name === undefined ? undefined : read(name);
    if (reading !== undefined) readings.push(reading);
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return costOf(readings);
    },
  };
}

export function cpuBetween(readings: readonly Used[]): Cost['cpuBetween'] {
  const at = (ms: number): number => readings.findLast(({ atMs }) => atMs <= ms)?.cpuSeconds ?? 0;
  return (fromMs, toMs) => at(toMs) - at(fromMs);
}

export function costOf(readings: readonly Reading[]): Cost {
  return {
    readings,
    cpuBetween: cpuBetween(readings),
    peakMemoryMb: Math.max(...readings.map(({ memoryMb }) => memoryMb)),
    peakChargedMb: Math.max(...readings.map(({ chargedMb }) => chargedMb)),
  };
}

function read(group: string): Reading | undefined {
  const atMs = Date.now();
  try {
    return existsSync(`/sys/fs/cgroup/${group}/cpu.stat`) ? { atMs, ...version2(group) } : { atMs, ...version1(group) };
  } catch {
    return undefined;
  }
}

function version1(group: string): Omit<Reading, 'atMs'> {
  const controller = (name: string): string => `/sys/fs/cgroup/${name}/${group}`;
  const memory = readFileSync(`${controller('memory')}/memory.stat`, 'utf8');
  return {
    cpuSeconds: Number(readFileSync(`${controller('cpuacct')}/cpuacct.usage`, 'utf8')) / 1e9,
    memoryMb: field(memory, 'total_rss') / 1e6,
    chargedMb: Number(readFileSync(`${controller('memory')}/memory.usage_in_bytes`, 'utf8')) / 1e6,
  };
}

function version2(group: string): Omit<Reading, 'atMs'> {
  const folder = `/sys/fs/cgroup/${group}`;
  return {
    cpuSeconds: field(readFileSync(`${folder}/cpu.stat`, 'utf8'), 'usage_usec') / 1e6,
    memoryMb: field(readFileSync(`${folder}/memory.stat`, 'utf8'), 'anon') / 1e6,
    chargedMb: Number(readFileSync(`${folder}/memory.current`, 'utf8')) / 1e6,
  };
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
