import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WaitingRoom } from './waiting-room.ts';

describe('handshakes in turns', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function setUp(places: number) {
    const room = new WaitingRoom<{ readonly name: number }>({ places, heldMs: 250 });
    const begun: number[] = [];
    const guests = Array.from({ length: 6 }, (_, name) => ({ name }));
    for (const guest of guests) room.enter(guest, () => begun.push(guest.name));
    return { room, begun, guests };
  }

  test('so many begin as there are places, the others in the order of coming', () => {
    const { room, begun, guests } = setUp(2);
    expect(begun).toEqual([0, 1]);
    room.leave(guests[1]!);
    expect(begun).toEqual([0, 1, 2]);
    room.leave(guests[0]!);
    room.leave(guests[2]!);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  test('who goes away while waiting is passed over', () => {
    const { room, begun, guests } = setUp(1);
    room.leave(guests[1]!);
    room.leave(guests[0]!);
    expect(begun).toEqual([0, 2]);
  });

  test('who waits for us keeps his place, and is not overtaken by those who would wait for us too', () => {
    const { room, begun, guests } = setUp(1);
    room.stay(guests[0]!);
    vi.advanceTimersByTime(60_000);
    expect(begun).toEqual([0]);
    room.leave(guests[0]!);
    expect(begun).toEqual([0, 1]);
  });

  test('those who never finish delay the others by a moment and no more', () => {
    const { begun } = setUp(2);
    vi.advanceTimersByTime(249);
    expect(begun).toEqual([0, 1]);
    vi.advanceTimersByTime(1);
    expect(begun).toEqual([0, 1, 2, 3]);
    vi.advanceTimersByTime(250);
    expect(begun).toHaveLength(6);
  });
});
