import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HandshakeQueue } from './handshake-queue.ts';

describe('the handshake queue', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function setUp(slots: number) {
    const queue = new HandshakeQueue<{ readonly name: number }>({ slots, slotMs: 250 });
    const begun: number[] = [];
    const connections = Array.from({ length: 6 }, (_, name) => ({ name }));
    for (const connection of connections) queue.add(connection, () => begun.push(connection.name));
    return { queue, begun, connections };
  }

  test('as many begin as there are slots, the others follow in their order', () => {
    const { queue, begun, connections } = setUp(2);
    expect(begun).toEqual([0, 1]);
    queue.remove(connections[1]!);
    expect(begun).toEqual([0, 1, 2]);
    queue.remove(connections[0]!);
    queue.remove(connections[2]!);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  test('a connection that ends while it waits is passed over', () => {
    const { queue, begun, connections } = setUp(1);
    queue.remove(connections[1]!);
    queue.remove(connections[0]!);
    expect(begun).toEqual([0, 2]);
  });

  test('a client that waits for our answer keeps its slot, and no other starts before the answer', () => {
    const { queue, begun, connections } = setUp(1);
    queue.keepSlot(connections[0]!);
    vi.advanceTimersByTime(60_000);
    expect(begun).toEqual([0]);
    queue.remove(connections[0]!);
    expect(begun).toEqual([0, 1]);
  });

  test('handshakes that never finish delay the others by the time of one slot', () => {
    const { begun } = setUp(2);
    vi.advanceTimersByTime(249);
    expect(begun).toEqual([0, 1]);
    vi.advanceTimersByTime(1);
    expect(begun).toEqual([0, 1, 2, 3]);
    vi.advanceTimersByTime(250);
    expect(begun).toHaveLength(6);
  });
});
