// What the kernel has counted for a process, from /proc. Its name may hold blanks and brackets, so fields count from behind it.
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

export interface ProcessCpu {
  /** Of its own threads. */
  readonly seconds: number;
  /** Of the processes that it started and waited for. */
  readonly childrenSeconds: number;
  /** In ticks since the host's boot: with its number it names a process for good. */
  readonly startedAt: number;
}

/** Throws when there is no such process any more. */
export function processCpu(pid: number | string | undefined): ProcessCpu {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index]);
  return {
    seconds: (at(11) + at(12)) / ticksPerSecond,
    childrenSeconds: (at(13) + at(14)) / ticksPerSecond,
    startedAt: at(19),
  };
}
