// Puts an attempt on the host: the program, the settings, the units. The first thing that is written there; nothing of
// it changes the machine until the unit is started. Cut off anywhere, the next call makes the rest.

import { enableUnits, reloadUnitFiles } from '../config-daemon/unit-states.ts';
import { type AttemptSettings, attemptFiles, inPlaceFiles } from '../contract/in-place.ts';
import type { Host } from '../host/host.ts';
import { attemptUnits } from './on-host/attempt-units.ts';
import { copyProgram } from './on-host/program-folder.ts';

/** `programRoot`: the root of an image of this program, such as `/proc/<pid>/root` of a pod. */
export async function stageAttempt(host: Host, settings: AttemptSettings, programRoot: string): Promise<void> {
  const { files } = host;
  const { folder, program, settings: settingsFile } = attemptFiles(settings.attemptId);
  await files.makeFolder(inPlaceFiles.folder, { mode: 0o700 });
  await files.makeFolder(folder, { mode: 0o700 });
  const programDigests = await copyProgram(host, { root: programRoot, folder: program });
  // It holds the tokens of the Secret.
  await files.write(settingsFile, `${JSON.stringify({ ...settings, programDigests }, null, 2)}\n`, { mode: 0o600 });
  const { run, finish } = attemptUnits(settings.attemptId);
  for (const { path, text } of [run, finish]) await files.write(path, text, { mode: 0o644 });
  await reloadUnitFiles(host);
  // From now on a boot goes on with the attempt.
  await enableUnits(host, [run.name]);
}
