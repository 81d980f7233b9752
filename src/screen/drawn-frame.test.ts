import { expect, test } from 'vitest';
import { drawnFrame } from './drawn-frame.ts';

function screen(columns: number): {
  readonly written: string[];
  readonly terminal: Parameters<typeof drawnFrame>[0];
  width: number;
} {
  const written: string[] = [];
  const state = {
    written,
    width: columns,
    terminal: { err: (text: string) => void written.push(text), columns: () => state.width },
  };
  return state;
}

test('a frame is drawn in one write and replaces the one before', () => {
  const { terminal, written } = screen(80);
  const frame = drawnFrame(terminal);
  frame.draw(['one', 'two']);
  frame.draw(['three']);
  expect(written).toEqual(['one\u001B[K\ntwo\u001B[K\n', '\u001B[2A\rthree\u001B[K\n\u001B[J']);
});

test('a terminal that became narrower has wrapped lines, and they are all taken back', () => {
  const state = screen(80);
  const frame = drawnFrame(state.terminal);
  frame.draw(['x'.repeat(60), `\u001B[32m${'y'.repeat(30)}\u001B[0m`]);
  state.width = 30;
  frame.draw([]);
  expect(state.written.at(-1)).toBe('\u001B[3A\r\u001B[J');
});

test('a cleared frame leaves nothing to take back', () => {
  const { terminal, written } = screen(80);
  const frame = drawnFrame(terminal);
  frame.draw(['one']);
  frame.clear();
  frame.draw(['two']);
  expect(written).toEqual(['one\u001B[K\n', '\u001B[1A\r\u001B[K\n\u001B[1A\r', 'two\u001B[K\n']);
});
