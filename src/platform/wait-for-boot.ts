// Waits until machines have booted and Ignition has configured them. The platform reads files while the first boot runs
// and asks systemd inside only afterwards: on a small host frequent questions inside would slow the boot down.
import { waitingFor } from '../contract/missing.ts';
import type { Host } from '../host/host.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { platformErrors } from './errors.ts';
import type { ObservedMachine } from './machine.ts';
import type { Platform } from './platform.ts';

export interface BootWait {
  readonly host: Host;
  readonly platform: Platform;
  readonly cluster: string;
  readonly names: readonly string[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called at every look with the machines that have not booted yet. */
  readonly onWaiting?: (machines: readonly ObservedMachine[]) => void;
}

/** The machines as they are once all of them run. Throws at once when a first boot failed or a machine ended. */
export async function waitForBoot(wait: BootWait): Promise<readonly ObservedMachine[]> {
  const { host, platform, cluster, names, signal } = wait;
  return waitUntil({
    clock: host.clock,
    what: `the boot of ${names.join(', ')}`,
    deadlineMs: wait.deadlineMs,
    everyMs: 100,
    signal,
    probe: async (): Promise<Observation<readonly ObservedMachine[]>> => {
      const machines = (await platform.observeMachines(cluster)).filter(({ name }) => names.includes(name));
      for (const machine of machines) await assertAlive(wait, machine);
      const absent = names.find((name) => !machines.some((machine) => machine.name === name));
      if (absent !== undefined) throw platformErrors.NO_MACHINE({ machine: absent, cluster });
      const missing = machines.filter(({ state }) => state !== 'running' && state !== 'degraded');
      if (missing.length === 0) return { status: 'ready', value: machines };
      wait.onWaiting?.(missing);
      return { status: 'waiting', missing: missing.map(({ name, detail }) => waitingFor(name, '', { detail })) };
    },
  });
}

async function assertAlive(wait: BootWait, machine: ObservedMachine): Promise<void> {
  if (machine.state === 'first-boot-failed') {
    throw platformErrors.FIRST_BOOT_FAILED({
      machine: machine.name,
      reason: machine.firstBoot?.reason ?? machine.detail,
    });
  }
  if (machine.state !== 'stopped') return;
  throw platformErrors.DIED({ machine: machine.name, lastLines: await lastConsoleLines(wait, machine.name) });
}

async function lastConsoleLines({ host, platform, cluster, signal }: BootWait, machine: string): Promise<string> {
  const request = { source: 'console', units: [], lines: 20, isFollowing: false, format: 'short-precise' } as const;
  const command = await platform.logCommand?.({ cluster, machine }, request);
  if (command === undefined) return 'its console cannot be read';
  const [program, ...args] = command;
  const { stdout } = await host.processes.run(program, args, { timeoutMs: 10_000, signal });
  return stdout.trim().split('\n').slice(-3).join(' ') || 'it said nothing';
}
