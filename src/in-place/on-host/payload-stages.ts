// Route two as the unit on the host runs it: the stages of the payload in their phases. A stage knows by itself which
// of its steps are done, and undoes itself and the one before when it fails.
import { attemptFiles, type HostAttempt } from '../../contract/in-place.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import { payloadErrors } from '../payload/errors.ts';
import { fetchPayload } from './fetch-payload.ts';
import type { InPlaceRoute, RouteContext, WorkOutcome } from './route.ts';
import { runPayloadStage, type StageOutcome, undoPayload } from './route-payload.ts';

export function payloadRoute(context: RouteContext): InPlaceRoute {
  const { host, settings } = context;
  const done = new Set<HostAttempt['phase']>();
  return {
    look: async ({ phase }) => {
      if (done.has(phase)) return 'done';
      const isThere = (await host.files.facts(attemptFiles(settings.attemptId).payload)) !== undefined;
      return isThere ? 'prepared' : 'unprepared';
    },
    prepare: () => prepare(context),
    work: async (attempt, deadlineMs) => {
      const outcome = await runStage(context, attempt, deadlineMs);
      if (outcome.status === 'undone') return { status: 'failed', ...outcome.failure };
      done.add(attempt.phase);
      return { status: 'done' };
    },
    undo: async ({ phase }) => {
      await undoPayload(host, settings, { code: 'ApplyTimeout', message: `${phase} was ended` });
      return true;
    },
    tidy: async () => undefined,
  };
}

async function runStage(context: RouteContext, attempt: HostAttempt, remainingMs: number): Promise<StageOutcome> {
  const { host, settings, signal, report } = context;
  const stage = attempt.phase === 'KubeApplying' ? 'kube' : 'base';
  return runPayloadStage(host, { settings, history: attempt.history, report, remainingMs, signal }, stage);
}

async function prepare({ host, settings, signal }: RouteContext): Promise<WorkOutcome> {
  try {
    await fetchPayload(host, settings, signal);
    return { status: 'done' };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    const mayPass =
      isError(error, hostErrors.NETWORK) || (isError(error, payloadErrors.DOWNLOAD) && error.details.status >= 500);
    if (mayPass) return { status: 'again', reason: error.message };
    return { status: 'failed', code: error.code, message: error.message };
  }
}
