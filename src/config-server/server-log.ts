// What the server says about itself, as values: one per answer and one per connection that never got as far. No entry
// holds a token, a key or a config; of what a stranger sent, only so much as cannot flood a line.
import { bodyBytes } from '../host/https-server.ts';
import type { ConnectionTrouble, ServerAnswer, ServerRequest } from '../host/https-server.ts';
import type { AnswerDecision } from './handler.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  /** May be the same object for many entries: then its text is made, and searched for secrets, once. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** What only this entry has; nothing that a client could choose, because it is written as it is. */
  readonly own?: Readonly<Record<string, string | number>>;
}

export type Log = (entry: LogEntry) => void;

interface Answered {
  readonly request: ServerRequest;
  readonly answer: ServerAnswer;
  readonly decision: AnswerDecision;
  readonly tokenId: string | undefined;
  readonly ms: number;
}

/** Of so many paths the last answer is kept; a cluster has a few. */
const pathsKept = 64;

/** Makes the entries of answers. Most are like the one before but for the machine, its token and the time it took. */
export function answerEntries(): (answered: Answered) => LogEntry {
  const last = new Map<string, { readonly of: Answered; readonly shared: SharedPart }>();
  return (answered) => {
    const { request, answer, tokenId } = answered;
    let found = last.get(request.target);
    if (found === undefined || !isAlike(found.of, answered)) {
      found = { of: withoutBody(answered), shared: sharedPart(answered) };
      if (last.size >= pathsKept) last.clear();
      last.set(request.target, found);
    }
    const { level, text, fields } = found.shared;
    const { address } = request.peer;
    const ms = Math.round(answered.ms * 10) / 10;
    const bytes = bodyBytes(answer);
    const own = tokenId === undefined ? { address, bytes, ms } : { address, tokenId, bytes, ms };
    return { level, text, fields, own };
  };
}

type SharedPart = Omit<LogEntry, 'own'>;

/** Whether the shared part of the one is that of the other. */
function isAlike(one: Answered, other: Answered): boolean {
  return (
    one.answer.status === other.answer.status &&
    one.request.method === other.request.method &&
    one.request.peer.from === other.request.peer.from &&
    one.request.headers['user-agent'] === other.request.headers['user-agent'] &&
    one.request.headers['accept'] === other.request.headers['accept'] &&
    (one.decision === other.decision || isAlikeDecision(one.decision, other.decision))
  );
}

function isAlikeDecision(one: AnswerDecision, other: AnswerDecision): boolean {
  return (
    one.reason === other.reason &&
    one.pool === other.pool &&
    one.config === other.config &&
    one.spec === other.spec &&
    one.detail === other.detail
  );
}

/** An answer holds a token, and a body that nobody else may need any more. */
function withoutBody({ request, answer, decision, tokenId, ms }: Answered): Answered {
  const { 'user-agent': agent, accept } = request.headers;
  const headers = {
    ...(agent === undefined ? {} : { 'user-agent': agent }),
    ...(accept === undefined ? {} : { accept }),
  };
  return { request: { ...request, headers }, answer: { ...answer, body: [] }, decision, tokenId, ms };
}

function sharedPart({ request, answer, decision }: Answered): SharedPart {
  const { route, reason, ...about } = decision;
  const { method, headers, peer } = request;
  const path = shortened(request.target, 100);
  return {
    level: route === 'healthz' ? 'debug' : reason === 'served' ? 'info' : answer.status === 500 ? 'error' : 'warn',
    text: `${method} ${path} ${answer.status} ${reason}`,
    fields: {
      ...(peer.from === 'balancer' ? { from: 'balancer' } : {}),
      method,
      path,
      status: answer.status,
      reason,
      ...about,
      ...(headers['user-agent'] === undefined ? {} : { agent: shortened(headers['user-agent'], 80) }),
      ...(headers['accept'] === undefined ? {} : { accept: shortened(headers['accept'], 120) }),
    },
  };
}

/** What a TLS failure says about the client; the rest are scans and strays. */
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
  const { kind, address } = trouble;
  return { level: 'warn', text: troubleText(trouble), fields: { ...trouble, kind, address } };
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

/** On one line, and no longer than a line. */
function shortened(text: string, length: number): string {
  const printable = text.replace(/[^ -~]/g, '?');
  return printable.length <= length ? printable : `${printable.slice(0, length - 3)}...`;
}
