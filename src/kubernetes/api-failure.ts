// From an answer outside 200–299 to a row of the KUBERNETES table, by its Status object. Nothing else in this folder
// branches on status numbers.
import { type ErrorKind, type ErrorMaker, type FirstlightError, isError } from '../errors/firstlight-error.ts';
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

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return transientRows.some((row) => isError(error, row));
}

const transientRows: readonly ErrorKind[] = [
  kubernetesErrors.UNREACHABLE,
  kubernetesErrors.TIMEOUT,
  kubernetesErrors.UNAVAILABLE,
  kubernetesErrors.TOO_MANY_REQUESTS,
];
