import { expect, test } from 'vitest';
import { Doorbell } from './doorbell.ts';

const settled = async (promise: Promise<void>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
};
const never = new AbortController().signal;

test('a ring wakes everybody who waits', async () => {
  const bell = new Doorbell();
  const waits = [bell.rung(bell.rings, never), bell.rung(bell.rings, never)];
  bell.ring();
  await expect(Promise.all(waits)).resolves.toHaveLength(2);
});

test('a ring between the look and the wait is not missed', async () => {
  const bell = new Doorbell();
  const { rings } = bell;
  bell.ring();
  expect(await settled(bell.rung(rings, never))).toBe(true);
  expect(await settled(bell.rung(bell.rings, never))).toBe(false);
});

test('an abort ends a wait, and a later ring finds nobody', async () => {
  const bell = new Doorbell();
  const over = new AbortController();
  const wait = bell.rung(bell.rings, over.signal);
  expect(await settled(wait)).toBe(false);
  over.abort();
  expect(await settled(wait)).toBe(true);
  bell.ring();
});
