// Agent and kubelet are stopped and do not start at a boot while an attempt works on the machine. What they were before
// is recorded first, so that an attempt that ends without a change gives the machine back as it was.
import { z } from 'zod';
import { runSystemProgram } from '../../config-daemon/system-program.ts';
import {
  disableUnits,
  enableUnits,
  isEnabledState,
  reloadUnitFiles,
  unitStates,
} from '../../config-daemon/unit-states.ts';
import { attemptFiles } from '../../contract/in-place.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';

/** The agent first: it would start the kubelet again. */
const held = [unitNames.agent, unitNames.kubelet] as const;

const heldUnits = z.array(z.object({ name: z.string(), isEnabled: z.boolean(), isActive: z.boolean() }));

const systemctlLimitMs = 120_000;

function recordPath(attemptId: string): string {
  return `${attemptFiles(attemptId).folder}/held.json`;
}

export async function isHolding({ files }: Host, attemptId: string): Promise<boolean> {
  return (await files.facts(recordPath(attemptId))) !== undefined;
}

export async function holdUnits(host: Host, attemptId: string): Promise<void> {
  const states = await unitStates(host, held);
  const present = held.filter((name) => states.get(name) !== 'not-found');
  if (!(await isHolding(host, attemptId))) {
    const active = await activeUnits(host, present);
    const units = present.map((name) => {
      return { name, isEnabled: isEnabledState(states.get(name)), isActive: active.has(name) };
    });
    await host.files.write(recordPath(attemptId), JSON.stringify(units), { mode: 0o600 });
  }
  for (const name of present) {
    if (isEnabledState(states.get(name))) await disableUnits(host, [name]);
    // A unit that is masked and was never loaded cannot be stopped, which is no failure: only one that runs is.
    await host.processes.run('systemctl', ['stop', name], { timeoutMs: systemctlLimitMs });
  }
  for (const name of await activeUnits(host, present)) {
    await runSystemProgram(host, 'systemctl', ['stop', name], { timeoutMs: systemctlLimitMs });
  }
}

/** They start when this unit has ended: both are ordered after it. */
export async function giveBackUnits(host: Host, attemptId: string): Promise<void> {
  const content = await host.files.readIfPresent(recordPath(attemptId));
  const units = content === undefined ? [] : (heldUnits.safeParse(jsonIfValid(content)).data ?? []);
  const named = (list: typeof units): readonly string[] => list.map(({ name }) => name);
  await enableUnits(host, named(units.filter(({ isEnabled }) => isEnabled)));
  await reloadUnitFiles(host);
  const starting = named(units.filter(({ isEnabled, isActive }) => isEnabled || isActive));
  if (starting.length > 0) await runSystemProgram(host, 'systemctl', ['--no-block', 'start', ...starting]);
  await host.files.remove(recordPath(attemptId));
}

async function activeUnits(host: Host, names: readonly string[]): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  // The exit status says whether all of them are active, which is no failure here.
  const { stdout } = await host.processes.run('systemctl', ['is-active', ...names], { timeoutMs: systemctlLimitMs });
  const words = stdout.split('\n');
  return new Set(names.filter((_, index) => ['active', 'activating', 'reloading'].includes(words[index] ?? '')));
}
