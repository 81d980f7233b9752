// A change of a machine from one config to another. New contents are staged beside their targets and the old files are
// kept beside them, so that the disk can only be full before anything has changed, and an undo needs no space.
// Killed at any point, the change is finished or undone by `recoverChange`.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Host } from '../host/host.ts';
import {
  type ChangePhase,
  type ChangeRecord,
  findRecord,
  moveRecord,
  removeRecord,
  writeRecord,
} from './change-record.ts';
import { configDaemonErrors } from './errors.ts';
import { clearAfterChange } from './finish-steps.ts';
import { putInPlace } from './put-in-place.ts';
import { stageChange } from './stage-change.ts';
import { type ApplyRequest, readBootId, surveyChange } from './survey-change.ts';
import { takeBack } from './take-back.ts';

export interface Change extends Pick<ChangeRecord, 'from' | 'to' | 'bootId' | 'startedAt'> {
  readonly phase: ChangePhase;
}

/**
 * Brings files, links, folders and the enablement of units to the new config and leaves the change `applied`. Starts,
 * reloads and restarts nothing, except that systemd reads its unit files again.
 * Throws CONFIGDAEMON_NOT_STAGED when nothing has changed, CONFIGDAEMON_NOT_APPLIED when it failed and was undone.
 */
export async function applyChange(host: Host, request: ApplyRequest): Promise<Change> {
  await using _lock = await lockMachine(host);
  const to = request.to.name;
  const earlier = await endUndecided(host);
  if (earlier !== undefined) {
    throw configDaemonErrors.NOT_STAGED({ to, reason: `the change to ${earlier.to.name} is ${earlier.phase}` });
  }
  const record = await staged(host, request);
  try {
    await putInPlace(host, record);
    await moveRecord(host, 'prepared', 'applied');
  } catch (error) {
    await takeBack(host, { phase: 'prepared', record });
    await removeRecord(host, 'prepared');
    throw configDaemonErrors.NOT_APPLIED({ to, reason: reasonOf(error) }, { cause: error });
  }
  return changeOf('applied', record);
}

async function staged(host: Host, request: ApplyRequest): Promise<ChangeRecord> {
  const notStaged = (error: unknown): Error =>
    configDaemonErrors.NOT_STAGED({ to: request.to.name, reason: reasonOf(error) }, { cause: error });
  const record = await surveyChange(host, request).catch((error: unknown) => {
    throw notStaged(error);
  });
  try {
    await writeRecord(host, record);
    await stageChange(host, record, request);
    await moveRecord(host, 'staging', 'prepared');
    return record;
  } catch (error) {
    await takeBack(host, { phase: 'staging', record });
    await removeRecord(host, 'staging');
    throw notStaged(error);
  }
}

/** The change that is under way, as it is on the disk. */
export async function readChange(host: Host): Promise<Change | undefined> {
  const found = await findRecord(host);
  return found === undefined ? undefined : changeOf(found.phase, found.record);
}

/**
 * To be called before anything else after a start. Ends what has no decision left in it; what it returns is `applied`
 * (the caller finishes or undoes it), `undone` (the caller restarts what needs it, then `forgetChange`), or nothing.
 */
export async function recoverChange(host: Host): Promise<Change | undefined> {
  if ((await findRecord(host)) === undefined) return undefined;
  await using _lock = await lockMachine(host);
  return endUndecided(host);
}

async function endUndecided(host: Host): Promise<Change | undefined> {
  const found = await findRecord(host);
  if (found === undefined) return undefined;
  const { phase, record } = found;
  if (phase === 'finishing') {
    await clearAfterChange(host, record);
    await removeRecord(host, phase);
    return undefined;
  }
  if (phase === 'staging' || phase === 'prepared' || phase === 'undoing') {
    await takeBack(host, found);
    // In the boot in which the files were changed nothing has been started from them before they were all there.
    const isUnseen = phase !== 'undoing' && record.bootId === (await readBootId(host));
    if (phase === 'staging' || isUnseen) {
      await removeRecord(host, phase);
      return undefined;
    }
    await moveRecord(host, phase, 'undone');
    return changeOf('undone', record);
  }
  return changeOf(phase, record);
}

/** The new config is the machine's: writes `currentconfig` and removes what was kept of the old one. */
export async function finishChange(host: Host): Promise<void> {
  await using _lock = await lockMachine(host);
  const record = await recordIn(host, 'applied');
  await moveRecord(host, 'applied', 'finishing');
  await clearAfterChange(host, record);
  await removeRecord(host, 'finishing');
}

/** Everything as it was before, byte for byte; the change is `undone` then, until `forgetChange`. */
export async function undoChange(host: Host): Promise<Change> {
  await using _lock = await lockMachine(host);
  const record = await recordIn(host, 'applied');
  await moveRecord(host, 'applied', 'undoing');
  await takeBack(host, { phase: 'undoing', record });
  await moveRecord(host, 'undoing', 'undone');
  return changeOf('undone', record);
}

/** The undone change is dealt with. */
export async function forgetChange(host: Host): Promise<void> {
  await recordIn(host, 'undone');
  await removeRecord(host, 'undone');
}

async function recordIn(host: Host, phase: ChangePhase): Promise<ChangeRecord> {
  const found = await findRecord(host);
  if (found?.phase !== phase) throw new Error(`no change is ${phase}; found ${found?.phase ?? 'none'}`);
  return found.record;
}

function changeOf(phase: ChangePhase, { from, to, bootId, startedAt }: ChangeRecord): Change {
  return { phase, from, to, bootId, startedAt };
}

async function lockMachine({ files }: Host): Promise<AsyncDisposable> {
  const lock = await files.lockFile(daemonFiles.lock);
  if (lock === undefined) throw configDaemonErrors.LOCKED({ path: daemonFiles.lock });
  return lock;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
