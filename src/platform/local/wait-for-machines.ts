// Waiting until machines have booted and Ignition has configured them. Looks cheaply from outside while first boot is
// under way, and asks systemd inside only afterwards: on a small host the looking itself would slow the boot down.
import type { Host } from '../../host/host.ts';
import { type Observation, waitUntil } from '../../workflow/wait.ts';
import { platformErrors } from '../errors.ts';
import { machinePaths } from './cluster-folder.ts';
import { listMachines } from './local-platform.ts';
import type { ObservedMachine } from './observed-machine.ts';
import { waitingFor } from '../../contract/missing.ts';

export interface MachineWait {
  readonly host: Host;
  readonly cluster: string;
  readonly names: readonly string[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called at every look with the machines that have not booted yet. */
  readonly onWaiting?: (machines: readonly ObservedMachine[]) => void;
}

/** The machines as they are once all of them run. Throws at once when a first boot failed or a machine ended. */
export async function waitForMachines(wait: MachineWait): Promise<readonly ObservedMachine[]> {
  const { host, cluster, names, signal } = wait;
  return waitUntil({
    clock: host.clock,
    what: `the boot of ${names.join(', ')}`,
    deadlineMs: wait.deadlineMs,
    everyMs: 100,
    signal,
    probe: async (): Promise<Observation<readonly ObservedMachine[]>> => {
      const machines = (await listMachines(host, cluster)).filter((machine) => names.includes(machine.name));
      for (const machine of machines) await assertAlive(wait, machine);
      const absent = names.find((name) => !machines.some((machine) => machine.name === name));
      if (absent !== undefined) throw platformErrors.NO_MACHINE({ machine: absent, cluster });
      const missing = machines.filter((machine) => !hasBooted(machine));
      if (missing.length === 0) return { status: 'ready', value: machines };
      wait.onWaiting?.(missing);
      return { status: 'waiting', missing: missing.map(({ name, detail }) => waitingFor(name, '', { detail })) };
    },
  });
}

export function hasBooted(machine: ObservedMachine): boolean {
  return machine.state === 'running' || machine.state === 'degraded';
}

async function assertAlive({ host, cluster }: MachineWait, machine: ObservedMachine): Promise<void> {
  if (machine.state === 'first-boot-failed') {
    throw platformErrors.FIRST_BOOT_FAILED({
      machine: machine.name,
      reason: machine.firstBoot?.reason ?? machine.detail,
    });
  }
  if (machine.state !== 'stopped') return;
  const log = await host.files.readIfPresent(machinePaths(cluster, machine.name).consoleLog);
  const text = Buffer.from(log ?? new Uint8Array())
    .toString('utf8')
    .trim();
  throw platformErrors.DIED({
    machine: machine.name,
    lastLines: text.split('\n').slice(-3).join(' ') || 'it said nothing',
  });
}
