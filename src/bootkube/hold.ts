// Holds bootkube before a stage for as long as the pause file says so: this wait ends when a person ends it. The file
// is looked at again and again, so whoever changes it need not tell anybody, and a bootkube that was killed is held
// again.

import { dirname } from 'node:path';
import { handoffMark } from '../contract/bootstrap-paths.ts';
import { goingOnText, isHeldBefore, pausedText, pauseFile, readPause } from '../contract/bootstrap-pause.ts';
import type { Host } from '../host/host.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import type { Emit } from '../workflow/events.ts';
import { pause } from '../workflow/pause.ts';

const lookEveryMs = 1_000;

export interface HoldOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function holdBefore(stage: string, { host, emit, signal }: HoldOptions): Promise<void> {
  if (!(await isHeld(host, stage))) return;
  const changed = new Doorbell();
  using _ = host.files.watch(dirname(pauseFile), () => changed.ring());
  emit({ kind: 'stage-paused', stage, text: `${pausedText(stage)}: ${goingOnText()}` });
  for (;;) {
    const { rings } = changed;
    if (!(await isHeld(host, stage))) return;
    await pause(host.clock, { ms: lookEveryMs, signal, wake: (over) => changed.rung(rings, over) });
  }
}

/** Once the handoff has begun, nobody is held any more. */
async function isHeld({ files }: Host, stage: string): Promise<boolean> {
  return isHeldBefore(stage, await readPause(files)) && (await files.facts(handoffMark)) === undefined;
}
