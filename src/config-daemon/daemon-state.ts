// The state of the daemon on the disk: the change that is under way, and how the last one failed. The file is replaced
// at every step, before the step acts, so that a daemon that was killed anywhere goes on from it without the API.
import { z } from 'zod';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { AppliedConfig } from './applied-config.ts';

const postAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('daemon-reload') }),
  z.object({ kind: z.enum(['reload', 'restart']), unit: z.string() }),
]);
/** What is done with systemd after the files have changed; a reboot makes all of it unnecessary. */
export type PostAction = z.output<typeof postAction>;

const disruption = z.object({ needsReboot: z.boolean(), actions: z.array(postAction).readonly() });

const machineChange = z.object({
  from: z.string(),
  to: z.string(),
  /** `back`: `to` did not work, and the machine returns to `from`. */
  direction: z.enum(['forward', 'back']),
  /** Why it goes back; empty while it goes forward. */
  reason: z.string(),
  phase: z.enum(['draining', 'applying', 'acting', 'rebooting', 'verifying']),
  /** Since when it has this phase. */
  since: z.iso.datetime(),
  needsDrain: z.boolean(),
  /** A person asked for it by the force file: every file is written, also one that does not change. */
  isForced: z.boolean(),
  /** What follows the change of the files, for each direction. */
  forward: disruption,
  back: disruption,
  /** How many of the actions of the direction have begun. */
  actionsBegun: z.number(),
  /** The agent that restarts itself as an action; another process goes on. */
  restartingPid: z.number().exactOptional(),
  /** The boot in which its files were changed, and which a reboot is to end. */
  bootId: z.string(),
  /** Units that did not work before the change: they say nothing about it. */
  failedBefore: z.array(z.string()).readonly(),
});
export type MachineChange = z.output<typeof machineChange>;

const changeFailure = z.object({
  /** The config that the machine did not take. */
  config: z.string(),
  reason: z.string(),
  state: z.enum(['Degraded', 'Unreconcilable']),
  attempts: z.number(),
  /** Absent: it is not tried again until another config is wanted or a person forces it. */
  retryAt: z.iso.datetime().exactOptional(),
});
export type ChangeFailure = z.output<typeof changeFailure>;

const daemonState = z.object({
  format: z.literal(1),
  change: machineChange.exactOptional(),
  failure: changeFailure.exactOptional(),
});
export type DaemonState = z.output<typeof daemonState>;

export const emptyDaemonState: DaemonState = { format: 1 };

const stateFile = `${daemonFiles.stateFolder}/state.json`;
/** The config that the change leads to: with it the change can end while the API is away. */
const targetFile = `${daemonFiles.stateFolder}/target.json`;

export async function readDaemonState({ files }: Pick<Host, 'files'>): Promise<DaemonState> {
  const content = await files.readIfPresent(stateFile);
  // A file that cannot be read is written anew: what is on the disk then decides, by the drift that it shows.
  return content === undefined
    ? emptyDaemonState
    : (daemonState.safeParse(jsonIfValid(content)).data ?? emptyDaemonState);
}

export async function writeDaemonState({ files }: Pick<Host, 'files'>, state: DaemonState): Promise<void> {
  await files.makeFolder(daemonFiles.stateFolder, { mode: 0o700 });
  await files.write(stateFile, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** Whatever was under way or had failed counts no more: the machine has got a config by another way. */
export async function forgetDaemonState({ files }: Pick<Host, 'files'>): Promise<void> {
  for (const path of [stateFile, targetFile]) await files.remove(path);
}

/** It was judged before it was written, so it is not judged again. */
export async function readChangeTarget({ files }: Pick<Host, 'files'>): Promise<AppliedConfig | undefined> {
  const content = await files.readIfPresent(targetFile);
  return content === undefined ? undefined : (jsonIfValid(content) as AppliedConfig | undefined);
}

export async function writeChangeTarget({ files }: Pick<Host, 'files'>, config: AppliedConfig): Promise<void> {
  await files.makeFolder(daemonFiles.stateFolder, { mode: 0o700 });
  // It contains whatever the config contains, also secrets.
  await files.write(targetFile, JSON.stringify(config), { mode: 0o600 });
}

export async function removeChangeTarget({ files }: Pick<Host, 'files'>): Promise<void> {
  await files.remove(targetFile);
}
