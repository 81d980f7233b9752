// What follows a change of files on a running machine: systemd reads its units again, units are reloaded or restarted.
// Each action may run twice, because a daemon that was killed repeats the one that it had begun.
import { unitNames } from '../contract/unit-names.ts';
import type { Host } from '../host/host.ts';
import type { PostAction } from './daemon-state.ts';
import { runSystemProgram } from './system-program.ts';

/** A unit may take long to stop; systemd itself waits 90 s before it kills. */
const limitMs = 120_000;

/** The restart of the agent ends the process that asks for it, so it comes last and is not waited for. */
export function isOwnRestart(action: PostAction): boolean {
  return action.kind === 'restart' && action.unit === unitNames.agent;
}

/** In their order, with the restart of the agent at the end. */
export function orderedActions(actions: readonly PostAction[]): readonly PostAction[] {
  return [...actions.filter((action) => !isOwnRestart(action)), ...actions.filter(isOwnRestart).slice(0, 1)];
}

export async function performAction(host: Host, action: PostAction): Promise<void> {
  if (action.kind === 'daemon-reload') return systemctl(host, ['daemon-reload']);
  if (isOwnRestart(action)) return systemctl(host, ['--no-block', 'restart', action.unit]);
  // A unit that left the config has nothing to be reloaded or restarted: it ends.
  if (!(await isLoaded(host, action.unit))) return forget(host, action.unit);
  await systemctl(host, [action.kind === 'reload' ? 'reload-or-restart' : 'restart', action.unit]);
}

export async function reboot(host: Host): Promise<void> {
  await systemctl(host, ['--no-block', 'reboot']);
}

async function isLoaded(host: Host, unit: string): Promise<boolean> {
  const args = ['show', '--property=LoadState', '--value', '--', unit];
  const { stdout } = await host.processes.run('systemctl', args, { timeoutMs: limitMs });
  return !['not-found', 'masked'].includes(stdout.trim());
}

async function forget(host: Host, unit: string): Promise<void> {
  // Both fail for a unit that systemd has forgotten, which is what is wanted.
  for (const verb of ['stop', 'reset-failed'] as const) {
    await host.processes.run('systemctl', [verb, '--', unit], { timeoutMs: limitMs });
  }
}

async function systemctl(host: Host, args: readonly string[]): Promise<void> {
  await runSystemProgram(host, 'systemctl', args, { timeoutMs: limitMs });
}
