// One flood against a config server, run by itself inside the network namespace of a machine:
// `node flood-client.ts KIND HOST SECONDS TOKEN FROM…`, with the addresses that it comes from. Prints what it sent.
import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { connect } from 'node:net';
import { clientHello } from '../../client-hello.ts';

const [kind = '', host = '', seconds = '', token = '', ...from] = process.argv.slice(2);
const port = 22_623;
const endMs = performance.now() + Number(seconds) * 1000;
const isOver = (): boolean => performance.now() >= endMs;
const counts: Record<string, number> = {};
const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);

/** Opens a connection, sends half of a ClientHello, and opens the next when the server closes this one. */
async function half(localAddress: string, hello: Buffer): Promise<void> {
  while (!isOver()) {
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port, localAddress }, () => socket.write(hello.subarray(0, hello.length / 2)));
      const timer = setTimeout(() => socket.destroy(), Math.max(0, endMs - performance.now()));
      socket
        .on('error', () => {})
        .on('close', () => {
          clearTimeout(timer);
          count('half');
          resolve();
        });
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function ask(localAddress: string, options: { method: string; path: string; authorization: string }): Promise<void> {
  const { method, path, authorization } = options;
  return new Promise((resolve) => {
    const headers = { authorization, 'idempotency-key': 'chosen-by-the-flood' };
    const where = { host, port, localAddress, rejectUnauthorized: false, agent: false, timeout: 10_000 };
    const sent = request({ ...where, method, path, headers }, (response) => {
      count(String(response.statusCode));
      response.resume().on('close', resolve);
    });
    sent.on('error', () => {
      count('cut off');
      resolve();
    });
    sent.end();
  });
}

const letters = (length: number): string => randomBytes(length).toString('hex').slice(0, length);

async function repeat(localAddress: string): Promise<void> {
  while (!isOver()) {
    const guess = { method: 'POST', path: `/keys/${letters(8)}`, authorization: `Bearer ${letters(6)}.${letters(16)}` };
    const machine = { method: 'GET', path: '/config/worker', authorization: `Bearer ${token}` };
    await ask(localAddress, kind === 'guess' ? guess : machine);
  }
}

const hello = await clientHello();
const many = kind === 'half' ? 160 : 2;
await Promise.all(
  from.flatMap((address) =>
    Array.from({ length: many }, () => (kind === 'half' ? half(address, hello) : repeat(address))),
  ),
);
process.stdout.write(JSON.stringify(counts));
