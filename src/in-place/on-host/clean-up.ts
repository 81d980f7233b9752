// What is left of an attempt on its host when it has ended: the state file. Secrets go first and the program last,
// because the program is what removes them.
import { posix } from 'node:path';
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
  await files.remove(folder);
}
