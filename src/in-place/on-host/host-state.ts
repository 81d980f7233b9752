// The state of the attempt on its host: one file, replaced durably before every act that it names. It stays when
// everything else of the attempt is removed, so that the same attempt never begins a second time.
import {
  type AttemptSettings,
  attemptFiles,
  attemptSettingsSchema,
  type HostAttempt,
  hostAttemptSchema,
  type InPlacePhase,
  type InPlaceSystem,
  inPlaceFiles,
} from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { inPlaceErrors } from '../errors.ts';
import { isEnd, isLater } from '../phases.ts';

/** Undefined also where the file is damaged: what is on the disk then decides. */
export async function readHostAttempt({ files }: Pick<Host, 'files'>): Promise<HostAttempt | undefined> {
  const content = await files.readIfPresent(inPlaceFiles.state);
  return content === undefined ? undefined : hostAttemptSchema.safeParse(jsonIfValid(content)).data;
}

export async function writeHostAttempt({ files }: Host, attempt: HostAttempt): Promise<void> {
  await files.write(inPlaceFiles.state, `${JSON.stringify(attempt, null, 2)}\n`, { mode: 0o600 });
}

export async function readAttemptSettings(host: Pick<Host, 'files'>, attemptId: string): Promise<AttemptSettings> {
  return readSettingsFile(host, attemptFiles(attemptId).settings);
}

/** Settings that are not at their place yet: the pod or the workstation hands them over. */
export async function readSettingsFile({ files }: Pick<Host, 'files'>, path: string): Promise<AttemptSettings> {
  const content = await files.readIfPresent(path);
  if (content === undefined) throw inPlaceErrors.SETTINGS({ path, reason: 'it is not there' });
  const read = attemptSettingsSchema.safeParse(jsonIfValid(content));
  if (!read.success) throw inPlaceErrors.SETTINGS({ path, reason: read.error.issues[0]?.message ?? 'it is damaged' });
  return read.data;
}

export function systemOf({ grant }: AttemptSettings): InPlaceSystem {
  return grant.secret.os === 'rhel' ? 'rhel' : 'rhcos';
}

interface Moment {
  readonly now: Date;
  readonly bootId: string;
}

/** Whether the attempt on the disk forbids another one: it holds the kubelet, or its end is not known yet. */
export function isInTheWay({ attemptId, phase }: HostAttempt, other: string): boolean {
  return attemptId !== other && !isEnd(phase) && (phase === 'KubeletStopped' || isLater('KubeletStopped', phase));
}

/** The pod has checked everything: what the host begins with. */
export function begunAttempt(settings: AttemptSettings, { now, bootId }: Moment): HostAttempt {
  const at = now.toISOString();
  return {
    attemptId: settings.attemptId,
    os: systemOf(settings),
    phase: 'Ready',
    since: at,
    bootId,
    seq: settings.lastSeq,
    history: [{ phase: 'Ready', at, bootId }],
  };
}

/** Throws where the phase cannot follow: that would be a bug, and never a state of a machine. */
export function enteredPhase(attempt: HostAttempt, phase: InPlacePhase, { now, bootId }: Moment): HostAttempt {
  if (!isLater(attempt.phase, phase)) throw new Error(`${phase} does not follow ${attempt.phase}`);
  const at = now.toISOString();
  return { ...attempt, phase, since: at, bootId, history: [...attempt.history, { phase, at, bootId }] };
}

export function failedHostAttempt(
  attempt: HostAttempt,
  {
    phase,
    code,
    message,
  }: { readonly phase: 'Failed' | 'RolledBack'; readonly code: string; readonly message: string },
  moment: Moment,
): HostAttempt {
  const failure = { phase: attempt.phase, code, message };
  // Rolled back is a way out of few phases; elsewhere there was nothing to roll back.
  const end = isLater(attempt.phase, phase) ? phase : 'Failed';
  return { ...enteredPhase(attempt, end, moment), failure };
}
