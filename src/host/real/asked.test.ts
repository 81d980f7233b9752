import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { asked, isKept } from './asked.ts';

const peer = { address: '10.0.0.9', from: 'connection' } as const;
const sent = ['Host', 'a', 'Authorization', 'Bearer one'];

function message(rawHeaders: readonly string[], changes: Partial<IncomingMessage> = {}): IncomingMessage {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    rawHeaders[at * 2]?.toLowerCase(),
    rawHeaders[at * 2 + 1],
  ]);
  const headers = Object.fromEntries(pairs) as IncomingMessage['headers'];
  return { method: 'GET', url: '/config/master', rawHeaders: [...rawHeaders], headers, ...changes } as IncomingMessage;
}

describe('a question on a connection', () => {
  test('that is the same as the last is the same value', () => {
    const first = asked(message(sent), peer, undefined);
    expect(first.request.headers['authorization']).toBe('Bearer one');
    expect(asked(message(sent), peer, first)).toBe(first);
  });

  test.each([
    ['another token', message(['Host', 'a', 'Authorization', 'Bearer two'])],
    ['one header less', message(['Host', 'a'])],
    ['one header more', message([...sent, 'Accept', 'x'])],
    ['another method', message(sent, { method: 'HEAD' })],
    ['another target', message(sent, { url: '/config/worker' })],
  ])('with %s is another', (_, other) => {
    const first = asked(message(sent), peer, undefined);
    const second = asked(other, peer, first);
    expect(second).not.toBe(first);
    expect(second.request).toEqual({ method: other.method, target: other.url, headers: other.headers, peer });
  });

  test('of another peer is another, although every byte is the same', () => {
    const first = asked(message(sent), peer, undefined);
    expect(asked(message(sent), { ...peer }, first)).not.toBe(first);
  });

  test('that is long is not kept: a client must not make us remember', () => {
    const long = message(['Host', 'x'.repeat(4_000)]);
    const first = asked(long, peer, undefined);
    expect(isKept(first)).toBe(false);
    expect(asked(long, peer, first)).not.toBe(first);
  });
});
