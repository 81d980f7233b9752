// Waits for machines and tells, one line per change, what they are still doing.
import { waitForMachines } from '../../platform/local/wait-for-machines.ts';
import type { Invocation } from '../frame/verb.ts';
import { firstBootWait } from '../../contract/first-boot-status.ts';

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
    onWaiting: (machines) => {
      for (const { name, firstBoot } of machines) {
        const wait = firstBoot === undefined ? undefined : firstBootWait(firstBoot);
        const text = `${name}: ${wait}`;
        if (wait === undefined || told.has(text)) continue;
        told.add(text);
        emit({ kind: 'notice', level: 'info', text });
      }
    },
  });
}
