// Which programs the CPU seconds of a cluster's machines went to. Processes are looked at once a second; what lived
// shorter than that (first boots, systemctl, runc) is the difference to what the kernel charged in all.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { processCpu } from './process-cpu.ts';

export interface ProgramMeter {
  /** CPU seconds by program, most first; all machines together. */
  readonly stop: () => ReadonlyMap<string, number>;
}

const everyMs = 1_000;

/** `group` as in the paths of control groups: `firstlight/CLUSTER`. */
export function startProgramMeter(group: () => string | undefined): ProgramMeter {
  const seen = new Map<string, { readonly program: string; readonly seconds: number }>();
  // What a process had used before the first look is not of what is measured.
  let before: ReadonlyMap<string, number> | undefined;
  const look = (): void => {
    const name = group();
    if (name === undefined) return;
    for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
      const found = readProcess(pid, name);
      if (found !== undefined) seen.set(found.key, found);
    }
    before ??= new Map([...seen].map(([key, { seconds }]) => [key, seconds]));
  };
  const timer = setInterval(look, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      const sums = new Map<string, number>();
      for (const [key, { program, seconds }] of seen) {
        sums.set(program, (sums.get(program) ?? 0) + seconds - (before?.get(key) ?? 0));
      }
      return new Map([...sums].toSorted(([, a], [, b]) => b - a));
    },
  };
}

function readProcess(pid: string, group: string): { key: string; program: string; seconds: number } | undefined {
  try {
    if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/${group}/`)) return undefined;
    const [program = '', script = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const { seconds, startedAt } = processCpu(pid);
    const name = basename(program) === 'node' ? `firstlight ${firstWord(script, args)}` : basename(program);
    return { key: `${pid} ${startedAt}`, program: name, seconds };
  } catch {
    return undefined;
  }
}

/** The verb: `agent` of `node …/firstlight.js agent`. */
function firstWord(script: string, args: readonly string[]): string {
  return [script, ...args].find((word) => /^[a-z][a-z-]*$/.test(word)) ?? '';
}
