import { describe, expect, test } from 'vitest';
import { clientHello } from '../../../test/client-hello.ts';
import { judgeFirstMessage } from './client-hello.ts';

const record = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([22, 3, 1, payload.length >> 8, payload.length & 255]), payload]);

describe('the first message of a TLS client', () => {
  test('is whole with its last byte and not before', async () => {
    const hello = await clientHello();
    for (let length = 0; length < hello.length; length += 1) {
      expect(judgeFirstMessage(hello.subarray(0, length))).toBe('incomplete');
    }
    expect(judgeFirstMessage(hello)).toBe('whole');
    expect(judgeFirstMessage(Buffer.concat([hello, Buffer.from('more')]))).toBe('whole');
  });

  test('may come in several records', async () => {
    const message = (await clientHello()).subarray(5);
    const [first, second] = [record(message.subarray(0, 100)), record(message.subarray(100))];
    expect(judgeFirstMessage(first)).toBe('incomplete');
    expect(judgeFirstMessage(Buffer.concat([first, second]).subarray(0, -1))).toBe('incomplete');
    expect(judgeFirstMessage(Buffer.concat([first, second]))).toBe('whole');
  });

  test('of another protocol is for TLS to name', () => {
    expect(judgeFirstMessage(Buffer.from('GET / HTTP/1.1\r\n'))).toBe('foreign');
    expect(judgeFirstMessage(Buffer.alloc(4_096, 0x16))).toBe('foreign');
    expect(judgeFirstMessage(Buffer.alloc(64))).toBe('foreign');
  });

  test('is never waited for when it announces more than any client needs', () => {
    expect(judgeFirstMessage(Buffer.from('16030140000100ffff0303', 'hex'))).toBe('too-long');
  });
});
