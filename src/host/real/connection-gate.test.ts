import { describe, expect, test } from 'vitest';
import { ConnectionGate, quietAtLeastMs } from './connection-gate.ts';

interface Person {
  readonly name: string;
  isClosed: boolean;
  isAsking: boolean;
  readonly close: () => void;
  readonly isBusy: () => boolean;
}

function setUp(connections: number, connectionsPerAddress: number) {
  const clock = { ms: 0 };
  const full: string[] = [];
  const gate = new ConnectionGate<Person>({
    limits: { connections, connectionsPerAddress },
    nowMs: () => clock.ms,
    onFull: (address, limit, closed) => full.push(`${address} ${limit} ${closed}`),
  });
  const enter = (name: string, address: string): Person | undefined => {
    const person: Person = {
      name,
      isClosed: false,
      isAsking: false,
      close: () => void (person.isClosed = true),
      isBusy: () => person.isAsking,
    };
    return gate.enter(person, address) && gate.seat(person, address) ? person : undefined;
  };
  return { clock, full, gate, enter };
}

describe('who may stay connected', () => {
  test('the one that has been quiet longest makes way for a new one', () => {
    const { clock, full, enter } = setUp(2, 10);
    const [first, second] = [enter('first', 'a'), enter('second', 'b')];
    clock.ms += quietAtLeastMs;
    expect(enter('third', 'c')).toBeDefined();
    expect([first?.isClosed, second?.isClosed]).toEqual([true, false]);
    expect(full).toEqual(['c all old']);
  });

  test('a connection with a request under way, or a young one, is never closed for another', () => {
    const { clock, full, gate, enter } = setUp(2, 10);
    const busy = enter('busy', 'a');
    busy!.isAsking = true;
    gate.asked(busy!);
    clock.ms += 60_000;
    const young = enter('young', 'b');
    expect(enter('new', 'c')).toBeUndefined();
    expect([busy?.isClosed, young?.isClosed]).toEqual([false, false]);
    expect(full).toEqual(['c all new']);
  });

  test('an address that is full makes room among its own', () => {
    const { clock, gate, enter } = setUp(100, 2);
    const other = enter('other', 'b');
    const mine = [enter('1', 'a'), enter('2', 'a')];
    clock.ms += quietAtLeastMs;
    gate.answered(mine[0]!);
    clock.ms += quietAtLeastMs;
    expect(enter('3', 'a')).toBeDefined();
    expect([other, ...mine].map((person) => person?.isClosed)).toEqual([false, false, true]);
    expect(gate.size).toBe(3);
  });

  test('who does not take its answer is closed, who is quiet for as long is not', () => {
    const { clock, gate, enter } = setUp(10, 10);
    const [stuck, quiet, lately] = [enter('stuck', 'a'), enter('quiet', 'b'), enter('lately', 'c')];
    for (const one of [stuck!, lately!]) one.isAsking = true;
    clock.ms += 5_000;
    gate.answered(lately!);
    clock.ms += 5_000;
    const told: string[] = [];
    gate.closeStuck(10_000, ({ name }) => told.push(name));
    expect([stuck?.isClosed, quiet?.isClosed, lately?.isClosed]).toEqual([true, false, false]);
    expect(told).toEqual(['stuck']);
  });

  test('those who are quiet are closed though one that is busy came before them', () => {
    const { clock, gate, enter } = setUp(10, 10);
    const [busy, quiet] = [enter('busy', 'a'), enter('quiet', 'b')];
    busy!.isAsking = true;
    clock.ms += 5_000;
    gate.asked(busy!);
    const young = enter('young', 'c');
    gate.closeQuiet(5_000, () => true);
    expect([busy?.isClosed, quiet?.isClosed, young?.isClosed]).toEqual([false, true, false]);
  });

  test('what has left takes up no room', () => {
    const { gate, enter } = setUp(1, 1);
    for (let round = 0; round < 3; round += 1) gate.leave(enter('guest', 'a')!);
    expect(gate.size).toBe(0);
    expect(enter('guest', 'a')).toBeDefined();
  });

  test('a thousand silent connections from everywhere do not keep one that speaks from coming in', () => {
    const { clock, enter } = setUp(500, 10);
    for (let index = 0; index < 1_000; index += 1) {
      clock.ms += 10;
      enter(`silent ${index}`, `address ${index}`);
    }
    clock.ms += quietAtLeastMs;
    expect(enter('machine', 'b')).toBeDefined();
  });
});
