// Waits for machines and tells, one line per change, what they are still doing.
import { type BootWait, waitForBoot } from '../../platform/wait-for-boot.ts';
import type { Invocation } from '../frame/verb.ts';
import { firstBootWait } from '../../contract/first-boot-status.ts';

type WaitedMachines = Pick<BootWait, 'platform' | 'cluster' | 'names' | 'deadlineMs'>;

export async function waitAndTell({ host, signal, emit }: Invocation, wait: WaitedMachines): Promise<void> {
  const told = new Set<string>();
  await waitForBoot({
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
