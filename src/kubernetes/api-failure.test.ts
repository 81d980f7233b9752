import { describe, expect, test } from 'vitest';
import { failureOfAnswer, failureOfStatus, isTransient } from './api-failure.ts';

const asked = { what: 'create ConfigMap a/b', server: 'https://api:6443' };
const answer = (status: number, reason?: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  text: JSON.stringify({ kind: 'Status', message: 'the server says so', reason }),
});

describe('an answer', () => {
  const table: readonly (readonly [number, string | undefined, string])[] = [
    [400, 'BadRequest', 'INVALID'],
    [401, 'Unauthorized', 'UNAUTHORIZED'],
    [403, 'Forbidden', 'FORBIDDEN'],
    [404, 'NotFound', 'NOT_FOUND'],
    [409, 'AlreadyExists', 'ALREADY_EXISTS'],
    [409, 'Conflict', 'CONFLICT'],
    [410, 'Expired', 'EXPIRED'],
    [413, undefined, 'INVALID'],
    [422, 'Invalid', 'INVALID'],
    [429, 'TooManyRequests', 'TOO_MANY_REQUESTS'],
    [500, 'InternalError', 'UNAVAILABLE'],
    [503, 'ServiceUnavailable', 'UNAVAILABLE'],
    [504, 'Timeout', 'TIMEOUT'],
  ];
  test.each(table)('of %i %s is KUBERNETES_%s', (status, reason, code) => {
    const error = failureOfAnswer(answer(status, reason), asked);
    expect(error.code).toBe(`KUBERNETES_${code}`);
    expect(error.message).toContain('the server says so');
  });

  test('that is not JSON is quoted, an empty one is named by its number', () => {
    expect(failureOfAnswer({ status: 502, headers: {}, text: 'Bad Gateway\n' }, asked).message).toBe(
      'cannot create ConfigMap a/b: Bad Gateway',
    );
    expect(failureOfAnswer({ status: 502, headers: {}, text: '' }, asked).message).toContain('HTTP 502');
  });

  test('that asks for patience says for how long', () => {
    const error = failureOfAnswer(answer(429, 'TooManyRequests', { 'retry-after': '7' }), asked);
    expect(error.details).toMatchObject({ retryAfterSeconds: 7 });
    expect(isTransient(error)).toBe(true);
  });

  test('as an event of a watch is judged by its code', () => {
    expect(failureOfStatus({ kind: 'Status', code: 410, message: 'too old' }, asked).code).toBe('KUBERNETES_EXPIRED');
    expect(failureOfStatus('nonsense', asked).code).toBe('KUBERNETES_UNAVAILABLE');
  });
});
