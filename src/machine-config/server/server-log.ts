// What the server says about itself, as values: one per answer and one per connection that never got as far. No entry
// holds a token, a key or a config; of what a stranger sent, only so much as cannot flood a line.
import { bodyBytes } from '../../host/https-server.ts';
import type { ConnectionTrouble, ServerAnswer, ServerRequest } from '../../host/https-server.ts';
import type { Decision } from './handler.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type Log = (entry: LogEntry) => void;

export function answerEntry(request: ServerRequest, answer: ServerAnswer, decided: Decided): LogEntry {
  const { decision, ms } = decided;
  const { route, reason, ...about } = decision;
  const path = shortened(request.target, 100);
  return {
    level: route === 'healthz' ? 'debug' : reason === 'served' ? 'info' : answer.status === 500 ? 'error' : 'warn',
    text: `${request.method} ${path} ${answer.status} ${reason}`,
    fields: {
      address: request.peer.address,
      ...(request.peer.from === 'balancer' ? { from: 'balancer' } : {}),
      method: request.method,
      path,
      status: answer.status,
      reason,
      ...about,
      bytes: bodyBytes(answer),
      ms: Math.round(ms * 10) / 10,
      ...(request.headers['user-agent'] === undefined ? {} : { agent: shortened(request.headers['user-agent'], 80) }),
      ...(request.headers['accept'] === undefined ? {} : { accept: shortened(request.headers['accept'], 120) }),
    },
  };
}

interface Decided {
  readonly decision: Decision;
  readonly ms: number;
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
