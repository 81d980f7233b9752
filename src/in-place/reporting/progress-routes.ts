// The routes of the in-place bootstrapper on the port of the config servers of masters: reports, the attempt as it is,
// the grant of a pod, the payload. The state is in the API of the cluster and nowhere else, so that every master
// answers the same.
import { z } from 'zod';
import {
  attemptName,
  type InPlaceAttempt,
  type ProgressEvent,
  progressEventSchema,
  waitHeaders,
} from '../../contract/in-place.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { ServerRequest } from '../../host/https-server.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { attemptView } from '../attempt-view.ts';
import { isEnd } from '../phases.ts';
import { AttemptRecords, type RecordedAttempt } from './attempt-records.ts';
import { givePayload } from './give-payload.ts';
import { grantReporter } from './grant-reporter.ts';
import { isReporterToken, judgeEvents, progressAnswer } from './judge-event.ts';
import { giveProgress, type ProgressHandled, refuseProgress } from './progress-answers.ts';
import { bearerCredential, type PathIds, type ProgressParts, type ProgressRoutesOptions } from './progress-request.ts';
import { isReporterTokenForm } from './reporter-token.ts';

export interface ProgressRoutes extends AsyncDisposable {
  handle(request: ServerRequest): Promise<ProgressHandled>;
}

export function progressRoutes(host: Host, options: ProgressRoutesOptions): ProgressRoutes {
  const records = new AttemptRecords(host, options);
  const parts = { ...options, host, records };
  return {
    handle: (request) => answered(parts, request),
    [Symbol.asyncDispose]: () => records[Symbol.asyncDispose](),
  };
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly handle: (parts: ProgressParts, request: ServerRequest, ids: PathIds) => Promise<ProgressHandled>;
}

const id = '([A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)';
const nodePath = `^/v1/clusters/${id}/nodes/${id}`;

const routes: readonly Route[] = [
  { method: 'POST', path: new RegExp(`${nodePath}/attempts/${id}/events$`), handle: takeEvent },
  { method: 'GET', path: new RegExp(`${nodePath}/attempts/${id}$`), handle: showAttempt },
  { method: 'POST', path: new RegExp(`${nodePath}/reporter$`), handle: grantReporter },
  { method: 'GET', path: /^\/v1\/payload(?:\?|$)/, handle: givePayload },
];

async function answered(parts: ProgressParts, request: ServerRequest): Promise<ProgressHandled> {
  const fitting = routes.flatMap((route) => {
    const found = route.path.exec(request.target);
    return found === null ? [] : [{ route, found }];
  });
  if (fitting.length === 0) return refuseProgress('nothing-there');
  const fit = fitting.find(({ route }) => route.method === request.method);
  if (fit === undefined) return refuseProgress('method-unknown');
  const [, cluster = '', node = '', attemptId = ''] = fit.found;
  try {
    return await fit.route.handle(parts, request, { cluster, node, attemptId });
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return refuseProgress('cluster-away', { detail: error.message });
  }
}

/** The attempt of the path, if the token is its reporter's. */
async function reportersAttempt(
  { records, lookUps }: ProgressParts,
  request: ServerRequest,
  ids: PathIds,
): Promise<RecordedAttempt | undefined> {
  const token = bearerCredential(request);
  if (!isReporterTokenForm(token)) return undefined;
  const name = attemptName(ids.node, ids.attemptId);
  const isReporters = (found: RecordedAttempt | undefined): found is RecordedAttempt =>
    found !== undefined && isOfPath(found.attempt, ids) && isReporterToken(found.attempt.status.report, token);
  const known = await records.find(name);
  if (isReporters(known)) return known;
  // Another server may have given the token a moment ago.
  const read = lookUps.take(request.peer.address) ? await records.read(name) : undefined;
  return isReporters(read) ? read : undefined;
}

function isOfPath({ spec }: InPlaceAttempt, { cluster, node, attemptId }: PathIds): boolean {
  return spec.clusterId === cluster && spec.node === node && spec.attemptId === attemptId;
}

async function showAttempt(parts: ProgressParts, request: ServerRequest, ids: PathIds): Promise<ProgressHandled> {
  const found = await reportersAttempt(parts, request, ids);
  if (found === undefined) return refuseProgress('reporter-refused');
  const read = await parts.records.read(found.object.metadata.name);
  if (read === undefined) return refuseProgress('attempt-superseded', { machine: ids.node });
  return giveProgress(200, attemptView(read.attempt), { machine: ids.node });
}

async function takeEvent(parts: ProgressParts, request: ServerRequest, ids: PathIds): Promise<ProgressHandled> {
  const about = { machine: ids.node };
  const found = await reportersAttempt(parts, request, ids);
  if (found === undefined) return refuseProgress('reporter-refused');
  if (parts.records.isSuperseded(found)) return refuseProgress('attempt-superseded', about);
  if (request.body === 'too-large') return refuseProgress('event-too-large', about);
  const given = jsonIfValid(request.body ?? '');
  // A machine that has several reports may send them together.
  const events = reportsSchema.safeParse(Array.isArray(given) ? given : [given]);
  if (!events.success) {
    const [issue] = events.error.issues;
    const wrong = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
    return refuseProgress('event-invalid', { ...about, detail: wrong, body: { wrong } });
  }
  return recordEvents(parts, { found, events: events.data, request });
}

const reportsSchema = z.array(progressEventSchema).min(1).max(50);

/** Two servers that are sent the same report, or a controller that writes meanwhile, cost another look. */
const looksMax = 5;

interface Recording {
  readonly found: RecordedAttempt;
  readonly events: readonly ProgressEvent[];
  readonly request: ServerRequest;
}

async function recordEvents(
  { records }: ProgressParts,
  { found, events, request }: Recording,
): Promise<ProgressHandled> {
  const { name } = found.object.metadata;
  const detail = events.map(({ seq, phase, step, status }) => `${seq} ${phase} ${step} ${status}`).join(', ');
  const about = { machine: found.attempt.spec.node, detail };
  let current: RecordedAttempt | undefined = found;
  for (let look = 1; look <= looksMax; look += 1) {
    if (current === undefined) return refuseProgress('attempt-superseded', about);
    const verdict = judgeEvents(current.attempt.status.report, events);
    if (verdict.status === 'repeated') {
      return giveProgress(202, progressAnswer(await withNews(records, current, request)), about);
    }
    // What is known here may be older than what another server has written; of an ended attempt it is not all.
    const isWhole = look > 1 || (verdict.status === 'new' && !isEnd(current.attempt.status.phase));
    if (isWhole && verdict.status === 'gap') {
      const { ackSeq } = progressAnswer(current.attempt);
      return refuseProgress('event-gap', { ...about, body: { ackSeq } });
    }
    const written = isWhole && verdict.status === 'new' ? await records.write(current, verdict.report) : undefined;
    if (written !== undefined) return giveProgress(202, progressAnswer(written.attempt), about);
    current = await records.read(name);
  }
  return refuseProgress('attempt-busy', about);
}

/** Seconds. */
const waitMax = 10;

/** The attempt as it is, or, for a reporter that asks to wait, as soon as there is something new for it. */
async function withNews(
  records: AttemptRecords,
  { object, attempt }: RecordedAttempt,
  { headers }: ServerRequest,
): Promise<InPlaceAttempt> {
  const asked = /(?:^|[,;\s])wait=(\d{1,3})(?:$|[,;\s])/.exec(headers[waitHeaders.prefer] ?? '')?.[1];
  const seen = headers[waitHeaders.seen];
  if (asked === undefined || seen === undefined) return attempt;
  const isNews = (found: RecordedAttempt | undefined): boolean => {
    if (found === undefined) return true;
    const { command, phase } = progressAnswer(found.attempt);
    return `${command}/${phase ?? ''}` !== seen;
  };
  const waitMs = Math.min(Number(asked), waitMax) * 1_000;
  const found = await records.wait(object.metadata.name, waitMs, isNews);
  return found?.attempt ?? attempt;
}
