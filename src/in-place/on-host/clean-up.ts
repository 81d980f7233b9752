// What is left of an attempt on its host when it has ended: the state file. Secrets go first. The program that does it
// cannot remove itself, because it loads parts of itself to its very end: systemd does it a moment later.
import { posix } from 'node:path';
import { runSystemProgram } from '../../config-daemon/system-program.ts';
import { disableUnits, isEnabledState, reloadUnitFiles, unitStates } from '../../config-daemon/unit-states.ts';
import { attemptFiles } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { attemptUnits } from './attempt-units.ts';

export async function cleanUpAttempt(host: Host, attemptId: string): Promise<void> {
  const { files } = host;
  const { folder, program } = attemptFiles(attemptId);
  for (const name of (await files.list(folder)) ?? []) {
    const path = posix.join(folder, name);
    if (path !== program) await files.remove(path);
  }
  const units = Object.values(attemptUnits(attemptId));
  const states = await unitStates(
    host,
    units.map(({ name }) => name),
  );
  for (const { name, path } of units) {
    if (isEnabledState(states.get(name))) await disableUnits(host, [name]);
    await files.remove(path);
  }
  await reloadUnitFiles(host);
  // Without an accuracy systemd may wait for a minute more.
  const later = [
    '--collect',
    '--on-active=2',
    '--timer-property=AccuracySec=100ms',
    `--description=Remove the program of attempt ${attemptId}`,
  ];
  await runSystemProgram(host, 'systemd-run', [...later, 'rm', '-rf', '--', folder]);
}
