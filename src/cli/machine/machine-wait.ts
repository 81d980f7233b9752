// Waits for machines and tells, one line per change, what they are still doing.
import { waitForMachines } from '../../platform/local/wait-for-machines.ts';
import type { Invocation } from '../frame/verb.ts';

export interface BootWait {
  readonly cluster: string;
  readonly names: readonly string[];
  readonly deadlineMs: number;
}

export async function waitAndTell({ host, signal, emit }: Invocation, wait: BootWait): Promise<void> {
  const told = new Set<string>();
  await waitForMachines({
    ...wait,
    host,
    signal,
    onMissing: (missing) => {
      // The seconds of a wait change all the time; the person is told once what is waited for.
      const lines = missing.filter((line) => line.includes('waiting for')).map((line) => line.replace(/, \d+ s$/, ''));
      for (const text of lines.filter((line) => !told.has(line))) emit({ kind: 'notice', level: 'info', text });
      for (const line of lines) told.add(line);
    },
  });
}
