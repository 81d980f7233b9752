// Reads what Ignition says on its standard output: which URL it asks for, how often, and what the last attempt met.
// Ignition retries for ever; without this a waiting machine would look like a hanging one.

export interface FetchAttempt {
  readonly url: string;
  readonly attempts: number;
  readonly reason?: string;
}

export type FetchEvent =
  | { readonly kind: 'attempt'; readonly url: string; readonly attempt: number }
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'result'; readonly status: number; readonly reason: string };

const attemptLine = /\b(?:GET|PUT) (\S+): attempt #(\d+)/;
const resultLine = /\b(?:GET|PUT) result: (\d{3}) ?(.*)$|\b(?:GET|PUT) result: (.+)$/;
const errorLine = /\b(?:GET|PUT) error: (.+)$/;

export function parseIgnitionLine(line: string): FetchEvent | undefined {
  const attempt = attemptLine.exec(line);
  if (attempt?.[1] !== undefined) return { kind: 'attempt', url: attempt[1], attempt: Number(attempt[2]) };
  const error = errorLine.exec(line);
  if (error?.[1] !== undefined) return { kind: 'error', reason: shortReason(error[1]) };
  const result = resultLine.exec(line);
  if (result === null) return undefined;
  return { kind: 'result', status: Number(result[1] ?? 0), reason: (result[2] ?? result[3] ?? '').trim() };
}

/** Folds one more event in; undefined when nothing is being fetched any more. */
export function nextAttempt(current: FetchAttempt | undefined, event: FetchEvent): FetchAttempt | undefined {
  switch (event.kind) {
    case 'attempt': {
      const isSame = current?.url === event.url;
      const reason = isSame ? current.reason : undefined;
      return { url: event.url, attempts: event.attempt, ...(reason === undefined ? {} : { reason }) };
    }
    case 'error':
      return current === undefined ? undefined : { ...current, reason: event.reason };
    case 'result':
      // Anything below 500 is final for Ignition, good or bad.
      if (current === undefined || (event.status > 0 && event.status < 500)) return undefined;
      return { ...current, reason: `HTTP ${event.status || ''} ${event.reason}`.replace(/ +/g, ' ').trim() };
  }
}

/** Go nests `Get "URL": dial tcp 10.0.0.1:22623: connect: connection refused`; a person needs the end of it. */
function shortReason(text: string): string {
  const message = text.replace(/^(?:Get|Put|Head) "[^"]*": /, '').replace(/^dial \S+ \S+: /, '');
  return message.replace(/^(?:connect|lookup): /, '').trim();
}

/** The last line with a level of CRITICAL or ERROR, which is where Ignition says why it gave up. */
export function failureReason(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => /^(?:CRITICAL|ERROR)\s*:/.test(line));
  const critical = lines.filter((line) => !/Ignition failed: ?$/.test(line)).at(-1) ?? lines.at(-1);
  return critical?.replace(/^\w+\s*: /, '').trim();
}
