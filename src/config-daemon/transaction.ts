// A change of a machine from one config to another. New contents are staged beside their targets and the old files are
// kept beside them, so that the disk can only be full before anything has changed, and an undo needs no space. The
// record of the change is one file whose name is its phase; killed at any point, the change is finished or undone.
import type { Host } from '../host/host.ts';
import type { AppliedConfig } from './applied-config.ts';
import type { ChangePlan } from './change-plan.ts';
import { configDaemonErrors } from './errors.ts';

/**
 * `staging`, `prepared`: nothing may be relied on yet; recovery undoes it. `applied`: everything is on the disk, and
 * the old files are kept: it waits for `finishChange` or `undoChange`. `finishing`, `undoing`: decided, and carried to
 * its end by recovery. `undone`: the old files are back; what has been restarted for the new ones must be again.
 */
export const changePhases = ['staging', 'prepared', 'applied', 'finishing', 'undoing', 'undone'] as const;
export type ChangePhase = (typeof changePhases)[number];

export interface Change {
  readonly phase: ChangePhase;
  /** The name of the config before; undefined when there was none. */
  readonly from: string | undefined;
  readonly to: AppliedConfig;
  /** The boot in which it was applied: a reboot has happened when the machine has another one. */
  readonly bootId: string;
  readonly startedAt: string;
}

export interface ApplyRequest {
  readonly from: AppliedConfig | undefined;
  readonly to: AppliedConfig;
  readonly plan: ChangePlan;
}

/**
 * Brings files, links, folders and the enablement of units to the new config and leaves the change `applied`. Starts,
 * reloads and restarts nothing, except that systemd reads its unit files again.
 * Throws CONFIGDAEMON_NOT_STAGED when nothing has changed, CONFIGDAEMON_NOT_APPLIED when it failed and was undone.
 */
export async function applyChange(_host: Host, { to }: ApplyRequest): Promise<Change> {
  throw configDaemonErrors.NOT_STAGED({ to: to.name, reason: 'not built yet' });
}

/** The change that is under way, as it is on the disk. */
export async function readChange(_host: Host): Promise<Change | undefined> {
  throw new Error('not built yet');
}

/**
 * To be called before anything else after a start. Ends what has no decision left in it; what it returns is `applied`
 * (the caller finishes or undoes it), `undone` (the caller restarts what needs it, then `forgetChange`), or nothing.
 */
export async function recoverChange(_host: Host): Promise<Change | undefined> {
  throw new Error('not built yet');
}

/** The new config is the machine's: writes `currentconfig` and removes what was kept of the old one. */
export async function finishChange(_host: Host): Promise<void> {
  throw new Error('not built yet');
}

/** Everything as it was before, byte for byte; the change is `undone` then, until `forgetChange`. */
export async function undoChange(_host: Host): Promise<Change> {
  throw configDaemonErrors.NOT_APPLIED({ to: '', reason: 'not built yet' });
}

/** The undone change is dealt with. */
export async function forgetChange(_host: Host): Promise<void> {
  throw new Error('not built yet');
}
