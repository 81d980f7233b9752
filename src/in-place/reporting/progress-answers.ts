// Every answer of the progress API and the payload service, as a table. The reason stands in a header for programs and
// in a JSON body for people, as in the answers of the config server, whose port it shares.
import { reasonHeader } from '../../contract/config-server-answers.ts';
import type { ServerAnswer } from '../../host/https-server.ts';

interface Row {
  readonly status: number;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export const progressRefusals = {
  'event-invalid': { status: 400, message: 'The body is no report; docs/config-server.md has its fields.' },
  'reporter-refused': { status: 401, message: 'A token that is accepted here is needed.' },
  'payload-not-for-this': { status: 403, message: 'The token is for another worker, cluster or region.' },
  'nothing-there': { status: 404, message: 'There is nothing here; reports go to /v1/clusters/….' },
  'method-unknown': { status: 405, message: 'This path is asked by another method.' },
  'event-gap': { status: 409, message: 'The report after ackSeq is wanted.' },
  'attempt-begun': { status: 409, message: 'The attempt has begun on the host, and is not given to a pod again.' },
  'attempt-superseded': { status: 410, message: 'Another attempt has taken the place of this one.' },
  'event-too-large': { status: 413, message: 'A report has at most 64 kB.' },
  'attempt-not-there': { status: 503, message: 'No attempt is known for this node yet.', retryAfter: 1 },
  'attempt-busy': { status: 503, message: 'Others changed the attempt at the same moment.', retryAfter: 1 },
  'cluster-away': { status: 503, message: 'The API of the cluster does not answer.', retryAfter: 2 },
  'payload-not-ready': { status: 503, message: 'The payload cannot be made yet.', retryAfter: 5 },
  'payload-impossible': { status: 500, message: 'The payload cannot be made.' },
} as const satisfies Record<string, Row>;

export type ProgressRefusal = keyof typeof progressRefusals;

/** What was decided, for the log and the counters. Holds no secret. */
export interface ProgressDecision {
  readonly reason: ProgressRefusal | 'served';
  /** The node, once it is known that it is the one that asks. */
  readonly machine?: string;
  /** For the log; the client is not told. */
  readonly detail?: string;
}

export interface ProgressHandled {
  readonly answer: ServerAnswer;
  readonly decision: ProgressDecision;
}

const shared = { 'content-type': 'application/json', 'cache-control': 'no-store' };

export interface RefusedWith {
  readonly machine?: string;
  readonly detail?: string;
  /** More fields of the body. */
  readonly body?: object;
}

export function refuseProgress(reason: ProgressRefusal, { body = {}, ...about }: RefusedWith = {}): ProgressHandled {
  const { status, message, retryAfter }: Row = progressRefusals[reason];
  const headers = {
    ...shared,
    [reasonHeader]: reason,
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
  const answer = { status, headers, body: Buffer.from(`${JSON.stringify({ code: reason, message, ...body })}\n`) };
  return { answer, decision: { reason, ...about } };
}

export function giveProgress(
  status: 200 | 202,
  value: object,
  about: Omit<ProgressDecision, 'reason'>,
): ProgressHandled {
  const answer = { status, headers: shared, body: Buffer.from(`${JSON.stringify(value)}\n`) };
  return { answer, decision: { reason: 'served', ...about } };
}

export function giveArchive(body: Uint8Array, about: Omit<ProgressDecision, 'reason'>): ProgressHandled {
  const headers = { ...shared, 'content-type': 'application/gzip' };
  return { answer: { status: 200, headers, body }, decision: { reason: 'served', ...about } };
}
