// Floods against the config server, each while an honest machine at another address asks: it is served within the ten
// seconds after which Ignition gives a request up, and usually at once. Real sockets, one loopback address per client.
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { clientHello } from '../client-hello.ts';
import { ask, bearer, type Lab, type LabServer, makeLab, startServer, tokens } from './config-server-lab.ts';

const sockets: Socket[] = [];
let lab: Lab;
let server: LabServer;
let hello: Buffer;

beforeAll(async () => {
  lab = makeLab();
  server = await startServer(lab, ['--log-level', 'info']);
  hello = await clientHello();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  const status = await server?.stop();
  lab?.[Symbol.dispose]();
  if (status !== 0) throw new Error(`the server ended with ${status}`);
});

/** Connections that send these bytes and then nothing; those that the server closes count too. */
async function flood(count: number, addresses: number, bytes: Buffer): Promise<void> {
  const opened = Array.from({ length: count }, (_, index) => {
    const from = { localAddress: `127.20.0.${(index % addresses) + 1}` };
    const socket = connect({ host: '127.0.0.1', port: server.port, ...from });
    sockets.push(socket);
    return new Promise<void>((resolve) => {
      socket.on('connect', () => socket.write(bytes, () => resolve())).on('error', () => resolve());
    });
  });
  await Promise.all(opened);
}

/** Milliseconds until a machine at an address of its own has its configuration. */
async function servedMs(from: string): Promise<number> {
  const startMs = performance.now();
  const { status } = await ask(lab, server, '/config/master', { ...bearer(tokens.master), localAddress: from });
  expect(status).toBe(200);
  return performance.now() - startMs;
}

describe('a machine is served in its turn', () => {
  test('behind 1,800 halves of a ClientHello from one address and from eight', async () => {
    const half = hello.subarray(0, hello.length / 2);
    for (const addresses of [1, 8]) {
      await flood(1_800, addresses, half);
      expect(await servedMs(`127.21.0.${addresses}`)).toBeLessThan(3_000);
    }
  });

  test('behind 1,800 handshakes from eight addresses that stop after a whole ClientHello', async () => {
    await flood(1_800, 8, hello);
    expect(await servedMs('127.21.1.1')).toBeLessThan(3_000);
  });

  test('behind single bytes that could become anything', async () => {
    await flood(1_800, 8, Buffer.from([0x16]));
    expect(await servedMs('127.21.2.1')).toBeLessThan(3_000);
  });
});
