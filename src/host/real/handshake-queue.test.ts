import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HandshakeQueue } from './handshake-queue.ts';

const slotMs = 250;

describe('the handshake queue', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Waiting {
    readonly name: string;
  }

  function setUp(slots: number) {
    const queue = new HandshakeQueue<Waiting>({ slots, slotMs });
    const begun: string[] = [];
    const add = (client: string, name: string): Waiting => {
      const connection = { name };
      queue.add(connection, client, () => begun.push(name));
      return connection;
    };
    return { queue, begun, add };
  }

  test('as many begin as there are slots, the others follow in their order', () => {
    const { queue, begun, add } = setUp(2);
    const connections = ['a', 'b', 'c', 'd', 'e'].map((name) => add(name, name));
    expect(begun).toEqual(['a', 'b']);
    queue.remove(connections[1]!);
    expect(begun).toEqual(['a', 'b', 'c']);
    queue.remove(connections[0]!);
    queue.remove(connections[2]!);
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('a connection that ends while it waits is passed over', () => {
    const { queue, begun, add } = setUp(1);
    const [first, second] = [add('a', 'a'), add('b', 'b'), add('c', 'c')];
    queue.remove(second);
    queue.remove(first);
    expect(begun).toEqual(['a', 'c']);
  });

  test('a client that waits for our answer keeps its slot, and no other starts before the answer', () => {
    const { queue, begun, add } = setUp(1);
    const [first] = [add('a', 'a'), add('b', 'b')];
    queue.keepSlot(first);
    vi.advanceTimersByTime(60_000);
    expect(begun).toEqual(['a']);
    queue.remove(first);
    expect(begun).toEqual(['a', 'b']);
  });

  test('clients take turns, and the second of one waits behind the first of another', () => {
    const { queue, begun, add } = setUp(1);
    const first = add('a', 'a1');
    for (const name of ['a2', 'a3', 'a4']) add('a', name);
    add('b', 'b1');
    add('c', 'c1');
    queue.remove(first);
    vi.advanceTimersByTime(slotMs * 4);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  test('alone, a client has half of the slots; the other half is for clients that hold fewer than two', () => {
    const { begun, add } = setUp(8);
    for (let index = 0; index < 20; index += 1) add('a', `a${index}`);
    expect(begun).toHaveLength(4);
    for (let index = 0; index < 3; index += 1) add('b', `b${index}`);
    expect(begun.slice(4)).toEqual(['b0', 'b1']);
  });

  test('2,000 handshakes that never finish, of 50 addresses, delay a machine by less than a second', () => {
    const { begun, add } = setUp(32);
    for (let index = 0; index < 2_000; index += 1) add(`attacker ${index % 50}`, `half ${index}`);
    vi.advanceTimersByTime(slotMs / 2);
    add('machine', 'machine');
    vi.advanceTimersByTime(1_000);
    expect(begun).toContain('machine');
  });
});
