import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProxyHeader, plainAddress, proxyHeaderLimitBytes } from './proxy-protocol.ts';

const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];

interface Header {
  readonly command: number;
  readonly family: number;
  readonly transport?: number;
  readonly rest: readonly number[];
}

function header({ command, family, transport = 1, rest }: Header): Uint8Array {
  const head = [...signature, 0x20 | command, (family << 4) | transport, rest.length >> 8, rest.length & 0xff];
  return Uint8Array.from([...head, ...rest]);
}

const v4 = [10, 99, 0, 17, 10, 99, 0, 1, 0xab, 0xcd, 0x58, 0x5f];
const v6 = [...Array.from({ length: 15 }, () => 0), 1, ...Array.from({ length: 16 }, () => 0), 0x00, 0x50, 0x58, 0x5f];

describe('a PROXY v2 header', () => {
  test('names the client of an IPv4 connection', () => {
    const parsed = parseProxyHeader(header({ command: 1, family: 1, rest: v4 }));
    expect(parsed).toEqual({ status: 'parsed', length: 28, source: { address: '10.99.0.17', port: 0xabcd } });
  });

  test('names the client of an IPv6 connection, extensions behind the addresses or not', () => {
    for (const extensions of [[], [0x03, 0x00, 0x04, 1, 2, 3, 4]]) {
      const parsed = parseProxyHeader(header({ command: 1, family: 2, rest: [...v6, ...extensions] }));
      expect(parsed).toMatchObject({ status: 'parsed', source: { address: '::1', port: 80 } });
    }
  });

  test('says that an IPv4 address written as IPv6 is that IPv4 address', () => {
    const mapped = [...Array.from({ length: 10 }, () => 0), 0xff, 0xff, 10, 1, 2, 3, ...v6.slice(16)];
    const parsed = parseProxyHeader(header({ command: 1, family: 2, rest: mapped }));
    expect(parsed).toMatchObject({ source: { address: '10.1.2.3' } });
    expect(plainAddress('::ffff:10.1.2.3')).toBe('10.1.2.3');
    expect(plainAddress('FE80:0:0::1')).toBe('fe80::1');
  });

  test.each([
    ['a health check of the balancer itself', { command: 0, family: 0, rest: [] }],
    ['a health check that names addresses all the same', { command: 0, family: 1, rest: v4 }],
    ['a client without an address', { command: 1, family: 0, rest: [] }],
    ['a client on a Unix socket', { command: 1, family: 3, rest: Array.from({ length: 216 }, () => 0x2f) }],
  ] satisfies [string, Header][])('is the connection itself for %s', (_what, given) => {
    expect(parseProxyHeader(header(given))).toMatchObject({ status: 'parsed', source: undefined });
  });

  test.each([
    ['version 1', Buffer.from('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n')],
    ['a ClientHello', Uint8Array.of(0x16, 0x03, 0x01)],
    ['version 3', Uint8Array.from([...signature, 0x31, 0x11, 0, 12, ...v4])],
    ['an unknown command', header({ command: 2, family: 1, rest: v4 })],
    ['an unknown family', header({ command: 1, family: 4, rest: v4 })],
    ['an unknown transport', header({ command: 1, family: 1, transport: 3, rest: v4 })],
    ['datagrams', header({ command: 1, family: 1, transport: 2, rest: v4 })],
    ['no room for its addresses', header({ command: 1, family: 1, rest: v4.slice(1) })],
    ['an absurd length', Uint8Array.from([...signature, 0x21, 0x11, 0xff, 0xff])],
  ])('with %s is refused', (_what, bytes) => {
    expect(parseProxyHeader(bytes).status).toBe('malformed');
  });

  test('is waited for as long as it may still become one, and not a byte longer', () => {
    const whole = header({ command: 1, family: 1, rest: v4 });
    for (let length = 0; length < whole.length; length += 1) {
      const parsed = parseProxyHeader(whole.subarray(0, length));
      expect(parsed).toEqual({ status: 'incomplete', atLeast: length < 16 ? 16 : 28 });
    }
    expect(parseProxyHeader(Uint8Array.from([...whole, 0x16, 3, 1]))).toMatchObject({ status: 'parsed', length: 28 });
  });

  const noise = fc.uint8Array({ maxLength: 300 });
  const nearly = fc
    .record({ command: fc.nat(15), family: fc.nat(15), transport: fc.nat(15), rest: fc.array(fc.nat(255)) })
    .map(header);

  test('never throws, never claims bytes that are not there, and never changes its mind', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          noise,
          nearly,
          fc.tuple(nearly, noise).map((parts) => Buffer.concat(parts)),
        ),
        (bytes) => {
          const whole = parseProxyHeader(bytes);
          if (whole.status === 'parsed') expect(whole.length).toBeLessThanOrEqual(bytes.length);
          if (whole.status === 'incomplete') expect(whole.atLeast).toBeLessThanOrEqual(proxyHeaderLimitBytes);
          for (let length = 0; length < bytes.length; length += 1) {
            const part = parseProxyHeader(bytes.subarray(0, length));
            if (part.status !== 'incomplete') expect(part).toEqual(whole);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
