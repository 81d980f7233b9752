// Reads Ignition's log: which URL it requests, how often, and how the last attempt failed.
// Ignition retries for ever; without this a machine that waits would look like one that hangs.

export interface FetchAttempt {
  readonly url: string;
  readonly attempts: number;
  readonly reason?: string;
}

export type FetchEvent =
  | { readonly kind: 'attempt'; readonly url: string; readonly attempt: number }
  | { readonly kind: 'error'; readonly reason: string }
  /** Ignition prints the words of a status, not its number. */
  | { readonly kind: 'result'; readonly status: string };

const attemptLine = /\b(?:GET|PUT) (\S+): attempt #(\d+)/;
const resultLine = /\b(?:GET|PUT) result: (.+)$/;
const errorLine = /\b(?:GET|PUT) error: (.+)$/;

export function parseIgnitionLine(line: string): FetchEvent | undefined {
  const attempt = attemptLine.exec(line);
  if (attempt?.[1] !== undefined) return { kind: 'attempt', url: attempt[1], attempt: Number(attempt[2]) };
  const error = errorLine.exec(line)?.[1];
  if (error !== undefined) return { kind: 'error', reason: shortReason(error) };
  const status = resultLine.exec(line)?.[1];
  return status === undefined ? undefined : { kind: 'result', status: status.trim() };
}

/** The statuses of 500 and above; Ignition tries again on these and takes all others as final. */
const retriedStatuses: readonly string[] = [
  'Internal Server Error',
  'Not Implemented',
  'Bad Gateway',
  'Service Unavailable',
  'Gateway Timeout',
  'HTTP Version Not Supported',
  'Variant Also Negotiates',
  'Insufficient Storage',
  'Loop Detected',
  'Not Extended',
  'Network Authentication Required',
];

/** The meaning of a status of the config server, where the words of the status do not explain it. */
const meanings: Readonly<Record<string, string>> = {
  'Network Authentication Required': 'its token is not accepted (Network Authentication Required)',
};

/** The attempt after one more event; undefined when nothing is being fetched any more. */
export function nextAttempt(current: FetchAttempt | undefined, event: FetchEvent): FetchAttempt | undefined {
  switch (event.kind) {
    case 'attempt': {
      const reason = current?.url === event.url ? current.reason : undefined;
      return { url: event.url, attempts: event.attempt, ...(reason === undefined ? {} : { reason }) };
    }
    case 'error':
      return current === undefined ? undefined : { ...current, reason: event.reason };
    case 'result':
      if (current === undefined || !retriedStatuses.includes(event.status)) return undefined;
      return { ...current, reason: meanings[event.status] ?? event.status };
  }
}

/**
 * Go nests `Get "URL": dial tcp 10.0.0.1:22623: connect: connection refused`; a person needs the end of it. The ports
 * of one connection are left out too: with them every attempt would have another reason.
 */
function shortReason(text: string): string {
  return text
    .replace(/^(?:Get|Put|Head) "[^"]*": /, '')
    .replace(/^dial \w+(?: \S+)?: /, '')
    .replace(/^(?:read|write) \w+ \S+->\S+: /, '')
    .replace(/^(?:connect|read|write): /, '')
    .trim();
}

/** The last critical message, except the general one that always comes last. */
export function failureReason(output: string): string | undefined {
  const critical = output.split('\n').filter((line) => /^CRITICAL\s*:/.test(line));
  const said = critical.filter((line) => !line.includes('Ignition failed:')).at(-1) ?? critical.at(-1);
  return said?.replace(/^CRITICAL\s*: /, '').trim();
}
