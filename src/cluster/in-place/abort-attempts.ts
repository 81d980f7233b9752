// Ends attempts on request. Until an attempt changes something it can be ended; the controller tells the machine.
import { attemptKind, type InPlacePhase, scheduleLabels } from '../../contract/in-place.ts';
import { runKind } from '../../contract/in-place-run.ts';
import { type AttemptView, byStart } from '../../in-place/attempt-view.ts';
import { isLater } from '../../in-place/phases.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { retry } from '../../workflow/retry.ts';
import { attemptErrors } from './errors.ts';
import { type AttemptCall, findAttempts, runningRun } from './observe-attempts.ts';

/** The last phase in which nothing of the machine is changed that the machine does not put back by itself. */
const lastAbortable: InPlacePhase = 'KubeletStopped';

export function isAbortable(phase: InPlacePhase): boolean {
  return phase === lastAbortable || isLater(phase, lastAbortable);
}

export interface AbortedAttempt {
  readonly node: string;
  /** Null where the label was removed before the controller had begun. */
  readonly attemptId: string | null;
}

export async function abortAttempt(call: AttemptCall, node: string): Promise<AbortedAttempt> {
  const { attempts, waiting } = await findAttempts(call);
  const running = byStart(attempts.filter((one) => one.node === node && !one.isEnded)).at(-1);
  if (running !== undefined) {
    if (!isAbortable(running.phase)) throw attemptErrors.TOO_LATE({ node, phase: running.phase });
    await askForEnd(call, running);
    return { node, attemptId: running.attemptId };
  }
  if (!waiting.some((one) => one.node === node)) throw attemptErrors.NO_ATTEMPT({ what: `under way on ${node}` });
  await removeLabels(call, node);
  return { node, attemptId: null };
}

export interface AbortedRun {
  readonly run: string;
  /** Their attempts end. */
  readonly aborted: readonly string[];
  /** They change already, and are finished. */
  readonly finishing: readonly string[];
}

/** No further node begins. */
export async function abortRun(call: AttemptCall, pool: string): Promise<AbortedRun> {
  const { host, client, signal } = call;
  const { attempts, runs } = await findAttempts(call);
  const run = runningRun(runs, pool);
  if (run === undefined) throw attemptErrors.NO_ATTEMPT({ what: `of a run of pool ${pool} under way` });
  const status = { state: 'Aborted', message: 'a person ended it' };
  await retry(apiPatience({ host, signal }), () =>
    client.mergePatch({ ...runKind, name: run.name }, { status }, { signal, subresource: 'status' }),
  );
  const running = attempts.filter((attempt) => attempt.run === run.name && !attempt.isEnded);
  const abortable = running.filter(({ phase }) => isAbortable(phase));
  for (const attempt of abortable) await askForEnd(call, attempt);
  const finishing = running.filter(({ phase }) => !isAbortable(phase)).map(({ node }) => node);
  return { run: run.name, aborted: abortable.map(({ node }) => node), finishing };
}

async function askForEnd({ host, client, signal }: AttemptCall, { name }: AttemptView): Promise<void> {
  await retry(apiPatience({ host, signal }), () =>
    client.mergePatch({ ...attemptKind, name }, { status: { isAborted: true } }, { signal, subresource: 'status' }),
  );
}

async function removeLabels({ host, client, signal }: AttemptCall, node: string): Promise<void> {
  const labels = Object.fromEntries(scheduleLabels.map((label) => [label, null]));
  await retry(apiPatience({ host, signal }), () =>
    client.mergePatch({ apiVersion: 'v1', kind: 'Node', name: node }, { metadata: { labels } }, { signal }),
  );
}
