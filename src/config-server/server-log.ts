// The server's log: one line of JSON per answer, and one per connection that failed before a request. No line holds a
// token, a key or a config; what a client sent is shortened and searched for secrets.
import type { Clock } from '../host/clock.ts';
import type { ConnectionTrouble, ServerAnswer, ServerRequest } from '../host/https-server.ts';
import { redact } from '../host/redact.ts';
import type { AnswerDecision } from './handler.ts';
import type { RateLimit } from './rate-limit.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

export interface LogEntry {
  readonly level: (typeof levels)[number];
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type Log = (entry: LogEntry) => void;

export interface ServerLogOptions {
  /** Entries below it are left out. */
  readonly level: LogEntry['level'];
  readonly write: (line: string) => void;
}

export function serverLog(clock: Clock, { level: lowest, write }: ServerLogOptions): Log {
  return ({ level, text, fields }) => {
    if (levels.indexOf(level) < levels.indexOf(lowest)) return;
    write(`${redact(JSON.stringify({ time: clock.now().toISOString(), level, text, ...fields }))}\n`);
  };
}

/**
 * Limits how many warnings each client can cause; the next one that is logged says how many were left out before it.
 * What was served is always logged.
 */
export function limitedLog(log: Log, limit: Pick<RateLimit, 'take'>): Log {
  let leftOut = 0;
  return (entry) => {
    const { address } = entry.fields;
    if (entry.level !== 'warn' || typeof address !== 'string') return log(entry);
    if (!limit.take(address)) return void (leftOut += 1);
    log(leftOut === 0 ? entry : { ...entry, fields: { ...entry.fields, leftOut } });
    leftOut = 0;
  };
}

interface Answered {
  readonly request: ServerRequest;
  readonly answer: ServerAnswer;
  readonly decision: AnswerDecision;
  readonly ms: number;
}

export function answerEntry({ request, answer, decision, ms }: Answered): LogEntry {
  const { route, reason, ...about } = decision;
  const { method, headers, peer } = request;
  const { status } = answer;
  const path = shortened(request.target, 100);
  return {
    level: route === 'healthz' ? 'debug' : reason === 'served' ? 'info' : status === 500 ? 'error' : 'warn',
    text: `${method} ${path} ${status} ${reason}`,
    fields: {
      address: peer.address,
      ...(peer.from === 'balancer' ? { from: 'balancer' } : {}),
      method,
      path,
      status,
      reason,
      ...about,
      bytes: answer.body.length,
      ms: Math.round(ms * 10) / 10,
      ...(headers['user-agent'] === undefined ? {} : { agent: shortened(headers['user-agent'], 80) }),
      ...(headers['accept'] === undefined ? {} : { accept: shortened(headers['accept'], 120) }),
    },
  };
}

/** What a TLS failure says about the client; other failures are scans and stray connections. */
const tlsMeanings: readonly (readonly [RegExp, string])[] = [
  [
    /UNKNOWN_CA|BAD_CERTIFICATE/,
    'the client does not trust our certificate: its pointer config carries another CA, or its clock is wrong',
  ],
  [/CERTIFICATE_EXPIRED/, 'the client finds our certificate expired'],
  [/CERTIFICATE_UNKNOWN/, 'the client does not accept our certificate'],
  [/UNSUPPORTED_PROTOCOL|WRONG_VERSION|VERSION_TOO_LOW/, 'the client speaks no TLS 1.2 or newer'],
  [/NO_SHARED_CIPHER/, 'the client has no cipher in common with us'],
  [/HANDSHAKE_TIMEOUT/, 'the client did not finish its TLS handshake'],
];

export function troubleEntry(trouble: ConnectionTrouble): LogEntry {
  return { level: 'warn', text: troubleText(trouble), fields: { ...trouble } };
}

function troubleText(trouble: ConnectionTrouble): string {
  switch (trouble.kind) {
    case 'tls':
      return tlsMeanings.find(([code]) => code.test(trouble.code))?.[1] ?? `a TLS handshake failed: ${trouble.code}`;
    case 'plain-http':
      return 'a client spoke plain HTTP: this port is for HTTPS';
    case 'proxy-header':
      return `a connection from a load balancer had no usable PROXY v2 header: ${trouble.reason}`;
    case 'bad-request':
      return `what a client sent was no HTTP request: ${trouble.code}`;
    case 'too-slow':
      return `a client was too slow with its ${trouble.phase === 'request' ? 'request' : 'taking of the answer'}`;
    case 'full':
      return trouble.closed === 'old'
        ? 'a quiet connection was closed to make room for a new one'
        : 'a new connection was closed because there is no room';
  }
}

/** On one line, and no longer than `length`. */
function shortened(text: string, length: number): string {
  const printable = text.replace(/[^ -~]/g, '?');
  return printable.length <= length ? printable : `${printable.slice(0, length - 3)}...`;
}
