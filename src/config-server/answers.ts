// Every refusal, as a table. Ignition takes a status below 500 as final and the machine never boots, so a refusal that
// may pass by itself has 500 or above. The reason stands in a header for programs and in a JSON body for people.
import { reasonHeader } from '../contract/config-server-answers.ts';
import type { ServerAnswer } from '../host/https-server.ts';

interface Row {
  readonly status: number;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export const refusals = {
  // 511, so that a person who reads Ignition's log thinks of the token; without a token every path gets it.
  'token-refused': { status: 511, message: 'A token that is accepted here is needed.', retryAfter: 5 },
  'pool-not-ready': { status: 503, message: 'The configuration of this pool is not there yet.', retryAfter: 1 },
  'too-many-tokens': { status: 503, message: 'Too many machines were served and have not joined yet.', retryAfter: 60 },
  'token-not-recorded': { status: 503, message: 'A token for this machine could not be recorded.', retryAfter: 5 },
  'keys-not-ready': { status: 503, message: 'The keys are not there yet.', retryAfter: 5 },
  'not-healthy': { status: 503, message: 'This server cannot serve now; its log says why.', retryAfter: 1 },
  'not-expressible': { status: 500, message: 'The configuration cannot be expressed in the Ignition spec asked for.' },
  internal: { status: 500, message: 'This is a mistake of the server; its log has more.' },
  'spec-unsupported': { status: 400, message: 'Specs 3.0 to 3.5 are served.' },
  'redemption-missing': { status: 400, message: 'An Idempotency-Key of 16 to 128 letters, digits, - and _ is needed.' },
  'target-mismatch': { status: 400, message: 'The header NodePool names another pool than the path.' },
  'target-unknown': { status: 404, message: 'There is no such rendered configuration.' },
  'not-found': { status: 404, message: 'There is nothing here; /config/POOL is where machines ask.' },
  'keys-not-served': { status: 404, message: 'This server never gives keys: it serves whoever asks.' },
  'method-not-allowed': { status: 405, message: 'Only reading is possible here.' },
} as const satisfies Record<string, Row>;

export type Refusal = keyof typeof refusals;

const shared = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** `detail` is only for clients that have shown an accepted token. */
export function refuse(code: Refusal, detail?: string): ServerAnswer {
  const row: Row = refusals[code];
  const message = detail === undefined ? row.message : `${row.message} ${detail}`;
  return {
    status: row.status,
    headers: {
      ...shared,
      [reasonHeader]: code,
      ...(row.retryAfter === undefined ? {} : { 'retry-after': String(row.retryAfter) }),
      ...(row.status === 405 ? { allow: 'GET, HEAD' } : {}),
    },
    body: Buffer.from(`${JSON.stringify({ code, message })}\n`),
  };
}

export function give(body: string | Uint8Array): ServerAnswer {
  return { status: 200, headers: shared, body: typeof body === 'string' ? Buffer.from(body) : body };
}
