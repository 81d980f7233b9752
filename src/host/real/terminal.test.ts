import { afterEach, expect, test } from 'vitest';
import { realTerminal } from './terminal.ts';

const { columns, rows } = process.stderr;
afterEach(() => Object.assign(process.stderr, { columns, rows }));

test.each([
  ['no size', { columns: 0, rows: 0 }, [80, 24]],
  ['nothing, because it is a pipe', { columns: undefined, rows: undefined }, [80, 24]],
  ['its size', { columns: 132, rows: 50 }, [132, 50]],
])('a terminal that reports %s', (_reported, size, expected) => {
  Object.assign(process.stderr, size);
  const terminal = realTerminal();
  expect([terminal.columns(), terminal.rows()]).toEqual(expected);
});
