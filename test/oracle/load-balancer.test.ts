// The load balancer's configuration, carried out by the real haproxy on addresses of the loopback. The machines behind
// it are servers of this process that answer late, or never, or are gone, as a test wants it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer as createHttpsServer, request } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiPort } from '../../src/contract/ports.ts';
import { loadBalancerConfig } from '../../src/platform/local/load-balancer.ts';
import { eventually, makeCa } from '../e2e/machine-lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-load-balancer-'));
/** Every run has addresses of its own: the ports are those of a cluster. */
const network = `127.${1 + (process.pid % 250)}.${Math.trunc(process.pid / 250) % 250}`;
const switchAddress = `${network}.1`;
const leaf = makeCa(folder).issue('api.test');

interface TestMachine {
  readonly name: string;
  readonly address: string;
  /** How long a new connection waits for its handshake; what is already connected is answered at once. */
  delayMs: number;
  readonly start: () => Promise<void>;
  readonly stop: () => void;
}

function testMachine(index: number): TestMachine {
  const name = `master-${index}`;
  const address = `${network}.${11 + index}`;
  const sockets = new Set<Socket>();
  const https = createHttpsServer({ cert: leaf.certificate, key: leaf.key }, (_, response) => response.end(name));
  https.on('tlsClientError', () => undefined);
  let tcp: Server | undefined;
  const machine: TestMachine = {
    name,
    address,
    delayMs: 0,
    start: () =>
      new Promise((done) => {
        tcp ??= createTcpServer((socket) => {
          sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
          setTimeout(() => https.emit('connection', socket), machine.delayMs);
        });
        if (tcp.listening) done();
        else tcp.listen(apiPort, address, done);
      }),
    stop: () => {
      tcp?.close();
      tcp = undefined;
      for (const socket of sockets) socket.destroy();
    },
  };
  return machine;
}

const machines = [0, 1, 2].map(testMachine);
const config = loadBalancerConfig({
  switchAddress,
  machines: machines.map(({ name, address }) => ({ name, address, role: 'master' })),
  socketFolder: folder,
});
/** Of the haproxy that took over last. */
let balancer: ChildProcess;
let log = '';

async function startBalancer(text: string, takeOver: readonly string[] = []): Promise<void> {
  const path = join(folder, 'haproxy.conf');
  writeFileSync(path, text);
  const child = spawn('haproxy', ['-db', '-f', path, ...takeOver], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  balancer = child;
  await eventually('an answer through the load balancer', 10, () => ask().catch(() => undefined));
}

/** The name of the machine that answered; by a connection of its own unless an agent is given. */
function ask(agent: Agent | false = false): Promise<string> {
  return new Promise((done, fail) => {
    const sent = request({ host: switchAddress, port: apiPort, agent, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => done(text));
      response.on('error', fail);
    });
    sent.on('error', fail).setTimeout(10_000, () => sent.destroy(new Error('no answer within 10 s')));
    sent.end();
  });
}

const states = (name: string): readonly string[] =>
  [...log.matchAll(/Server api\/(\S+) is (UP|DOWN)/g)]
    .filter((found) => found[1] === name)
    .map((found) => found[2] ?? '');
const isDown = (name: string): boolean => states(name).at(-1) === 'DOWN';
const untilDown = (names: readonly string[]): Promise<true> =>
  eventually(`that ${names.join(', ')} look down`, 20, async () => (names.every(isDown) ? true : undefined));

beforeAll(async () => {
  await Promise.all(machines.map((machine) => machine.start()));
  await startBalancer(config);
});
afterAll(() => {
  balancer.kill('SIGKILL');
  for (const machine of machines) machine.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const machine of machines) machine.delayMs = 0;
  await Promise.all(machines.map((machine) => machine.start()));
  const isUp = ({ name }: TestMachine): boolean => !isDown(name);
  await eventually('that every machine is used', 20, async () => (machines.every(isUp) ? true : undefined));
});

test('a master that hangs gets no new connection after two seconds, and keeps those it has', async () => {
  const session = new Agent({ keepAlive: true, maxSockets: 1 });
  const name = await ask(session);
  const machine = machines.find((each) => each.name === name);
  if (machine === undefined) throw new Error(`nobody is called ${name}`);
  machine.delayMs = 1_000_000;
  const startMs = performance.now();
  await untilDown([name]);
  // The last check passed a moment before: 0.6 s to the next, two that get no answer for 0.6 s each, 0.2 s between. As
  // much again for a host that is busy.
  expect(performance.now() - startMs).toBeLessThan(4_000);
  const others = await Promise.all(Array.from({ length: 6 }, () => ask()));
  expect(others).not.toContain(name);
  expect(await ask(session)).toBe(name);
  session.destroy();
});

test('when the checks of all are too slow, all are used: a slow check is not a dead server', async () => {
  const sessions = machines.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const before = await Promise.all(sessions.map((session) => ask(session)));
  for (const machine of machines) machine.delayMs = 1_500;
  await untilDown(machines.map(({ name }) => name));
  expect(await Promise.all(sessions.map((session) => ask(session)))).toEqual(before);
  const answers = await Promise.all(Array.from({ length: 9 }, () => ask()));
  expect(new Set(answers)).toEqual(new Set(machines.map(({ name }) => name)));
  for (const session of sessions) session.destroy();
  // One that refuses is passed over at once.
  const [gone, ...slow] = machines;
  gone?.stop();
  const startMs = performance.now();
  const others = await Promise.all(Array.from({ length: 9 }, () => ask()));
  expect(new Set(others)).toEqual(new Set(slow.map(({ name }) => name)));
  expect(performance.now() - startMs).toBeLessThan(8_000);
});

test('a load balancer that was replaced ends with the connections that are left, and clients move', async () => {
  const first = balancer;
  first.kill('SIGKILL');
  const soon = config.replace('hard-stop-after 60s', 'hard-stop-after 1s');
  expect(soon).not.toBe(config);
  await startBalancer(soon);
  const session = new Agent({ keepAlive: true, maxSockets: 1 });
  await ask(session);
  const replaced = balancer;
  await startBalancer(config, ['-sf', String(replaced.pid)]);
  await eventually('the end of the old load balancer', 20, async () =>
    replaced.exitCode === null && replaced.signalCode === null ? undefined : true,
  );
  expect(machines.map(({ name }) => name)).toContain(await ask(session));
  session.destroy();
});
