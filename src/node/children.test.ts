import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { Children } from './children.ts';

test('a child runs once, its word is kept, and one that fails is started again after a pause and not before', async () => {
  const { clock } = fakeHost();
  const stop = new AbortController();
  let changes = 0;
  let starts = 0;
  const children = new Children(clock, stop.signal, () => (changes += 1));
  let fail: (error: Error) => void = () => {};
  const child = (_signal: AbortSignal, say: (note: string) => void): Promise<void> => {
    starts += 1;
    say('leads');
    return new Promise((_resolve, reject) => {
      fail = reject;
    });
  };
  children.keep('one', child);
  expect(children.keep('one', child)).toEqual({ note: 'leads', lastFailure: undefined });
  expect(starts).toBe(1);
  fail(new Error('no more'));
  await children.ended();
  expect(children.keep('one', child)).toEqual({ note: undefined, lastFailure: 'Error: no more' });
  expect([starts, changes]).toEqual([1, 2]);
  clock.advance(1_000);
  children.keep('one', child);
  expect(starts).toBe(2);
});
