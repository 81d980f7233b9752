import { describe, expect, test } from 'vitest';
import { type FetchAttempt, failureReason, nextAttempt, parseIgnitionLine } from './ignition-log.ts';

/** What a watcher knows after these lines of Ignition 2.24. */
function after(...lines: readonly string[]): FetchAttempt | undefined {
  let current: FetchAttempt | undefined;
  for (const line of lines) {
    const event = parseIgnitionLine(line);
    if (event !== undefined) current = nextAttempt(current, event);
  }
  return current;
}

const url = 'https://api-int.demo.firstlight.test:22623/config/master';

describe('the log of Ignition', () => {
  test('names the URL from the first attempt on', () => {
    expect(after('INFO     : Stage: fetch', `INFO     : GET ${url}: attempt #1`)).toEqual({ url, attempts: 1 });
  });

  test.each([
    [`GET error: Get "${url}": dial tcp 10.99.0.1:22623: connect: connection refused`, 'connection refused'],
    [
      `GET error: Get "${url}": dial tcp: lookup x on 10.99.0.1:53: no such host`,
      'lookup x on 10.99.0.1:53: no such host',
    ],
    [
      `GET error: Get "${url}": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      `GET error: Get "${url}": read tcp 10.99.0.11:43210->10.99.0.1:22623: read: connection reset by peer`,
      'connection reset by peer',
    ],
    ['GET result: Service Unavailable', 'Service Unavailable'],
    ['GET result: Network Authentication Required', 'its token is not accepted (Network Authentication Required)'],
  ])('says what the last attempt met: %s', (line, reason) => {
    expect(after(`INFO : GET ${url}: attempt #7`, `INFO : ${line}`)).toEqual({ url, attempts: 7, reason });
  });

  test('keeps the reason while the next attempt is under way', () => {
    const lines = [`GET ${url}: attempt #1`, 'GET result: Bad Gateway', `GET ${url}: attempt #2`];
    expect(after(...lines)).toEqual({ url, attempts: 2, reason: 'Bad Gateway' });
  });

  test.each(['OK', 'Not Found', 'Forbidden'])('knows that %s ends the fetch', (status) => {
    expect(after(`GET ${url}: attempt #1`, `GET result: ${status}`)).toBeUndefined();
  });

  test('gives the reason of a failure, not the phrase it always ends with', () => {
    const output = [
      'INFO     : GET result: Not Found',
      'WARNING  : failed to fetch config: resource not found',
      'CRITICAL : failed to acquire config: resource not found',
      'CRITICAL : Ignition failed: resource not found',
    ].join('\n');
    expect(failureReason(output)).toBe('failed to acquire config: resource not found');
    expect(failureReason('CRITICAL : Ignition failed: x')).toBe('Ignition failed: x');
    expect(failureReason('INFO : fine')).toBeUndefined();
  });
});
