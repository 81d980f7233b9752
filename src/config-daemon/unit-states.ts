// Whether units are enabled, as systemctl(1) says it, and the calls that change it. Nothing is started or stopped:
// enabling makes links, which count at the next boot.
import type { Host } from '../host/host.ts';
import { runSystemProgram } from './system-program.ts';

/** Words of `systemctl is-enabled`; `not-found` where there is no such unit. */
export type UnitState = string;

export async function unitStates(host: Host, names: readonly string[]): Promise<ReadonlyMap<string, UnitState>> {
  if (names.length === 0) return new Map();
  const states = await askStates(host, names);
  if (states.length === names.length) return new Map(names.map((name, index) => [name, states[index] ?? 'not-found']));
  // Older ones stop at the first unit that does not exist.
  const alone: [string, UnitState][] = [];
  for (const name of names) alone.push([name, (await askStates(host, [name]))[0] ?? 'not-found']);
  return new Map(alone);
}

async function askStates({ processes }: Host, names: readonly string[]): Promise<readonly UnitState[]> {
  // The exit status says whether one of them is enabled, which is no failure here.
  const { stdout } = await processes.run('systemctl', ['is-enabled', ...names], { timeoutMs: 30_000 });
  return stdout.split('\n').filter((line) => line !== '');
}

export function isEnabledState(state: UnitState | undefined): boolean {
  return state === 'enabled' || state === 'enabled-runtime';
}

export async function enableUnits(host: Host, names: readonly string[]): Promise<void> {
  if (names.length > 0) await runSystemProgram(host, 'systemctl', ['--no-reload', 'enable', ...names]);
}

export async function disableUnits(host: Host, names: readonly string[]): Promise<void> {
  if (names.length > 0) await runSystemProgram(host, 'systemctl', ['--no-reload', 'disable', ...names]);
}

export async function reloadUnitFiles(host: Host): Promise<void> {
  await runSystemProgram(host, 'systemctl', ['daemon-reload']);
}
