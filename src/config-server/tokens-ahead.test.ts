import { describe, expect, test } from 'vitest';
import { TokensAhead } from './tokens-ahead.ts';

const config = 'rendered-master-1';

/** So many requests in each of a number of spans, one after the other. */
function ask(ahead: TokensAhead, times: { readonly fromMs: number; readonly spans: number; readonly each: number }) {
  const { fromMs, spans, each } = times;
  return Array.from({ length: spans * each }, (_, index) => ahead.take(config, fromMs + Math.floor(index / each) * 10));
}

async function rushing(): Promise<TokensAhead> {
  const ahead = new TokensAhead();
  ask(ahead, { fromMs: 1_000, spans: 2, each: 20 });
  await ahead.add(config, 1_020, Promise.resolve(['first', 'second']));
  return ahead;
}

describe('tokens ahead of the machines that ask', () => {
  test('are wanted in a rush, for a few moments of it, and not for ever more of them', () => {
    const ahead = new TokensAhead();
    ask(ahead, { fromMs: 1_000, spans: 2, each: 20 });
    expect(ahead.missing).toBe(100);
    ask(ahead, { fromMs: 1_020, spans: 2, each: 5_000 });
    expect(ahead.missing).toBe(1_024);
  });

  test.each([
    ['machines that come one by one', { spans: 100, each: 1 }],
    ['a handful that start together', { spans: 3, each: 7 }],
  ])('are not wanted for %s', (_who, times) => {
    const ahead = new TokensAhead();
    ask(ahead, { fromMs: 1_000, ...times });
    expect(ahead.missing).toBe(0);
  });

  test('are not wanted any more when the rush is over', async () => {
    const ahead = await rushing();
    ask(ahead, { fromMs: 60_000, spans: 2, each: 1 });
    expect(ahead.missing).toBe(0);
  });

  test('are recorded once at a time, also after a time that failed', async () => {
    const ahead = new TokensAhead();
    ask(ahead, { fromMs: 1_000, spans: 2, each: 20 });
    const failing = Promise.withResolvers<readonly string[]>();
    const added = ahead.add(config, 1_010, failing.promise);
    expect(ahead.missing).toBe(0);
    failing.reject(new Error('no space left'));
    await expect(added).rejects.toThrow('no space left');
    expect(ahead.missing).toBe(100);
  });

  test('go to one machine each', async () => {
    const ahead = await rushing();
    expect(new Set(ask(ahead, { fromMs: 1_030, spans: 1, each: 3 }))).toEqual(new Set(['first', 'second', undefined]));
  });

  test('are for the config that they were recorded with', async () => {
    const ahead = await rushing();
    expect(ahead.take('rendered-master-2', 1_030)).toBeUndefined();
    expect(ahead.take(config, 1_030)).toBeUndefined();
  });

  test('are forgotten after a minute, before their life gets shorter than a machine is told', async () => {
    const ahead = await rushing();
    expect(ahead.take(config, 61_019)).toBe('second');
    expect(ahead.take(config, 61_020)).toBeUndefined();
  });
});
