import { describe, expect, test } from 'vitest';
import { realClock } from '../host/real/real-host.ts';
import { StandingQuestions } from './standing-questions.ts';

const standing = { clock: realClock(), freshMs: 0, patienceMs: 30 };

describe('questions that stand', () => {
  test('the slow one holds nobody up, and its answer is taken when it comes', async () => {
    const questions = new StandingQuestions<string>(standing);
    const slow = Promise.withResolvers<string>();
    const asked = new Map([
      ['quick', async () => 'here'],
      ['slow', () => slow.promise],
    ]);
    expect(await questions.look(asked)).toEqual(new Map([['quick', 'here']]));
    slow.resolve('late');
    expect(await questions.look(asked)).toEqual(
      new Map([
        ['quick', 'here'],
        ['slow', 'late'],
      ]),
    );
  });

  test('nobody is asked twice at a time', async () => {
    const questions = new StandingQuestions<number>(standing);
    let count = 0;
    const slow = Promise.withResolvers<number>();
    const ask = (): Promise<number> => {
      count += 1;
      return slow.promise;
    };
    await questions.look(new Map([['it', ask]]));
    await questions.look(new Map([['it', ask]]));
    expect(count).toBe(1);
    slow.resolve(1);
    await questions.look(new Map([['it', ask]]));
    await questions.look(new Map([['it', ask]]));
    expect(count).toBe(2);
  });

  test('a fresh answer is not asked for again', async () => {
    const questions = new StandingQuestions<number>({ ...standing, freshMs: 60_000 });
    let count = 0;
    const asked = new Map([['it', async () => (count += 1)]]);
    await questions.look(asked);
    expect(await questions.look(asked)).toEqual(new Map([['it', 1]]));
  });

  test('what a question throws is thrown, once it is known, and forgotten with the next answer', async () => {
    const questions = new StandingQuestions<string>(standing);
    await expect(questions.look(new Map([['it', () => Promise.reject(new Error('no'))]]))).rejects.toThrow('no');
    expect(await questions.look(new Map([['it', async () => 'yes']]))).toEqual(new Map([['it', 'yes']]));
  });
});
