import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { BackgroundTasks } from './background-tasks.ts';

test('a task runs once, its note is kept, and one that fails is started again after a pause and not before', async () => {
  const { clock } = fakeHost();
  const stop = new AbortController();
  let changes = 0;
  let starts = 0;
  const tasks = new BackgroundTasks(clock, stop.signal, () => (changes += 1));
  let fail: (error: Error) => void = () => {};
  const task = (_signal: AbortSignal, setNote: (note: string) => void): Promise<void> => {
    starts += 1;
    setNote('leads');
    return new Promise((_resolve, reject) => {
      fail = reject;
    });
  };
  tasks.keep('one', task);
  expect(tasks.keep('one', task)).toEqual({ note: 'leads', lastFailure: undefined });
  expect(starts).toBe(1);
  fail(new Error('no more'));
  await tasks.ended();
  expect(tasks.keep('one', task)).toEqual({ note: undefined, lastFailure: 'Error: no more' });
  expect([starts, changes]).toEqual([1, 2]);
  clock.advance(1_000);
  tasks.keep('one', task);
  expect(starts).toBe(2);
});
