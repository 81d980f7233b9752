import { describe, expect, test } from 'vitest';
import { ConnectionLimiter, quietMsMin } from './connection-limiter.ts';

interface TestConnection {
  readonly name: string;
  isClosed: boolean;
  hasRequest: boolean;
  readonly close: () => void;
  readonly isBusy: () => boolean;
}

function setUp(connections: number, connectionsPerAddress: number) {
  const clock = { ms: 0 };
  const full: string[] = [];
  const limiter = new ConnectionLimiter<TestConnection>({
    limits: { connections, connectionsPerAddress },
    nowMs: () => clock.ms,
    onFull: (address, limit, closed) => full.push(`${address} ${limit} ${closed}`),
  });
  const connect = (name: string, address: string): TestConnection | undefined => {
    const connection: TestConnection = {
      name,
      isClosed: false,
      hasRequest: false,
      close: () => void (connection.isClosed = true),
      isBusy: () => connection.hasRequest,
    };
    return limiter.add(connection, address) && limiter.countUnder(connection, address) ? connection : undefined;
  };
  return { clock, full, limiter, connect };
}

describe('the limiter of connections', () => {
  test('the connection that has been quiet longest is closed for a new one', () => {
    const { clock, full, connect } = setUp(2, 10);
    const [first, second] = [connect('first', 'a'), connect('second', 'b')];
    clock.ms += quietMsMin;
    expect(connect('third', 'c')).toBeDefined();
    expect([first?.isClosed, second?.isClosed]).toEqual([true, false]);
    expect(full).toEqual(['c all old']);
  });

  test('a connection with a request under way, or a young one, is never closed for another', () => {
    const { clock, full, limiter, connect } = setUp(2, 10);
    const busy = connect('busy', 'a');
    busy!.hasRequest = true;
    limiter.requestStarted(busy!);
    clock.ms += 60_000;
    const young = connect('young', 'b');
    expect(connect('new', 'c')).toBeUndefined();
    expect([busy?.isClosed, young?.isClosed]).toEqual([false, false]);
    expect(full).toEqual(['c all new']);
  });

  test('an address that is full makes room among its own', () => {
    const { clock, limiter, connect } = setUp(100, 2);
    const other = connect('other', 'b');
    const mine = [connect('1', 'a'), connect('2', 'a')];
    clock.ms += quietMsMin;
    limiter.requestAnswered(mine[0]!);
    clock.ms += quietMsMin;
    expect(connect('3', 'a')).toBeDefined();
    expect([other, ...mine].map((connection) => connection?.isClosed)).toEqual([false, false, true]);
    expect(limiter.size).toBe(3);
  });

  test('a client that does not take its answer is closed, one that is quiet for as long is not', () => {
    const { clock, limiter, connect } = setUp(10, 10);
    const [stuck, quiet, lately] = [connect('stuck', 'a'), connect('quiet', 'b'), connect('lately', 'c')];
    for (const one of [stuck!, lately!]) one.hasRequest = true;
    clock.ms += 5_000;
    limiter.requestAnswered(lately!);
    clock.ms += 5_000;
    const told: string[] = [];
    limiter.closeStuck(10_000, ({ name }) => told.push(name));
    expect([stuck?.isClosed, quiet?.isClosed, lately?.isClosed]).toEqual([true, false, false]);
    expect(told).toEqual(['stuck']);
  });

  test('quiet connections are closed although a busy one came before them', () => {
    const { clock, limiter, connect } = setUp(10, 10);
    const [busy, quiet] = [connect('busy', 'a'), connect('quiet', 'b')];
    busy!.hasRequest = true;
    clock.ms += 5_000;
    limiter.requestStarted(busy!);
    const young = connect('young', 'c');
    limiter.closeQuiet(5_000, () => true);
    expect([busy?.isClosed, quiet?.isClosed, young?.isClosed]).toEqual([false, true, false]);
  });

  test('a removed connection takes up no room', () => {
    const { limiter, connect } = setUp(1, 1);
    for (let round = 0; round < 3; round += 1) limiter.remove(connect('connection', 'a')!);
    expect(limiter.size).toBe(0);
    expect(connect('connection', 'a')).toBeDefined();
  });

  test('a thousand silent connections from many addresses do not keep a new one out', () => {
    const { clock, connect } = setUp(500, 10);
    for (let index = 0; index < 1_000; index += 1) {
      clock.ms += 10;
      connect(`silent ${index}`, `address ${index}`);
    }
    clock.ms += quietMsMin;
    expect(connect('machine', 'b')).toBeDefined();
  });

  test('addresses that take all room with ever new connections make way for one that has none', () => {
    const { connect } = setUp(64, 32);
    const flood = Array.from({ length: 64 }, (_, index) => connect(`flood ${index}`, `attacker ${index % 2}`));
    const machine = connect('machine', 'm');
    expect(machine).toBeDefined();
    for (let index = 0; index < 100; index += 1) connect(`more ${index}`, `attacker ${index % 2}`);
    expect(machine?.isClosed).toBe(false);
    expect(flood.filter((connection) => connection?.isClosed === true).length).toBeGreaterThan(0);
  });
});
