// Puts what went wrong with a request into the KUBERNETES table: an answer by its Status object, a broken connection by
// what the operating system or TLS said. Nothing else in this folder looks at status numbers.
import { networkFailureOf } from '../host/network-failure.ts';
import { type ErrorMaker, FirstlightError, isError } from '../errors/firstlight-error.ts';
import { kubernetesErrors } from './errors.ts';

export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Asked {
  readonly what: string;
  readonly server: string;
}

/** The error for an answer outside 200–299. */
export function failureOfAnswer(answer: FailedAnswer, asked: Asked): FirstlightError {
  const status = statusObject(answer.text);
  const reason = status?.message || answer.text.slice(0, 500).trim() || `HTTP ${answer.status}`;
  const details = { ...asked, reason };
  if (answer.status === 429) {
    const seconds = Number(answer.headers['retry-after']);
    const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
    return kubernetesErrors.TOO_MANY_REQUESTS({ ...details, retryAfterSeconds });
  }
  return rowOf(answer.status, status?.reason)(details);
}

/** The error for an ERROR event of a watch, whose object is a Status. */
export function failureOfStatus(status: unknown, asked: Asked): FirstlightError {
  const { code } = (status ?? {}) as { code?: unknown };
  return failureOfAnswer(
    { status: typeof code === 'number' ? code : 500, headers: {}, text: JSON.stringify(status ?? {}) },
    asked,
  );
}

type PlainRow = ErrorMaker<{ readonly what: string; readonly server: string; readonly reason: string }>;

function rowOf(status: number, reason: string | undefined): PlainRow {
  if (reason === 'AlreadyExists') return kubernetesErrors.ALREADY_EXISTS;
  // 504 with this reason: the request ran into the server's own deadline, such as a write while etcd has no leader.
  if (reason === 'Timeout') return kubernetesErrors.TIMEOUT;
  const known = rows[status];
  if (known !== undefined) return known;
  return status >= 500 ? kubernetesErrors.UNAVAILABLE : kubernetesErrors.INVALID;
}

const rows: Readonly<Record<number, PlainRow>> = {
  401: kubernetesErrors.UNAUTHORIZED,
  403: kubernetesErrors.FORBIDDEN,
  404: kubernetesErrors.NOT_FOUND,
  409: kubernetesErrors.CONFLICT,
  410: kubernetesErrors.EXPIRED,
};

function statusObject(text: string): { readonly message?: string; readonly reason?: string } | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { message, reason } = parsed as Record<string, unknown>;
    return {
      ...(typeof message === 'string' ? { message } : {}),
      ...(typeof reason === 'string' ? { reason } : {}),
    };
  } catch {
    return undefined;
  }
}

/** The error for a request that got no (whole) answer. */
export function failureOfConnection(error: unknown, asked: Asked): FirstlightError {
  if (error instanceof FirstlightError) return error;
  const { code, message } = deepestCause(error);
  const [failure, reason] = networkFailureOf(code, message);
  return kubernetesErrors.UNREACHABLE({ ...asked, failure, reason }, { cause: error });
}

/** fetch wraps what happened, and a name with several addresses wraps once more. */
function deepestCause(error: unknown): { readonly code: string; readonly message: string } {
  let found: unknown = error;
  for (let depth = 0; depth < 5; depth += 1) {
    const inner = found instanceof AggregateError ? found.errors.at(-1) : (found as { cause?: unknown } | null)?.cause;
    if (!(inner instanceof Error)) break;
    found = inner;
  }
  const { code, message } = (found ?? {}) as { code?: unknown; message?: unknown };
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : String(found) };
}

/** Failures that the same request may not meet again a moment later. */
export function isTransient(error: unknown): boolean {
  return transientRows.some((row) => isError(error, row));
}

const transientRows = [
  kubernetesErrors.UNREACHABLE,
  kubernetesErrors.TIMEOUT,
  kubernetesErrors.UNAVAILABLE,
  kubernetesErrors.TOO_MANY_REQUESTS,
] as readonly ErrorMaker<never>[];
