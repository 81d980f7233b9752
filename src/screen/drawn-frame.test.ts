import { expect, test } from 'vitest';
import { drawnText } from '../host/terminal-text.ts';
import { drawnFrame } from './drawn-frame.ts';

function screen(columns: number): {
  readonly written: string[];
  readonly terminal: Parameters<typeof drawnFrame>[0];
  width: number;
} {
  const written: string[] = [];
  const state: ReturnType<typeof screen> = {
    written,
    width: columns,
    terminal: { draw: (pieces) => void written.push(drawnText(pieces)), columns: () => state.width },
  };
  return state;
}

test('a frame is drawn in one write and replaces the one before', () => {
  const { terminal, written } = screen(80);
  const frame = drawnFrame(terminal);
  frame.draw([{ text: 'one' }, { text: 'two' }]);
  frame.draw([{ text: 'three' }]);
  expect(written).toEqual(['one\u001B[K\ntwo\u001B[K\n', '\u001B[2A\rthree\u001B[K\n\u001B[J']);
});

test('a terminal that became narrower has wrapped lines, and they are all taken back', () => {
  const state = screen(80);
  const frame = drawnFrame(state.terminal);
  frame.draw([{ text: 'x'.repeat(60) }, { text: 'y'.repeat(30), color: 'green' }]);
  state.width = 30;
  frame.draw([]);
  expect(state.written.at(-1)).toBe('\u001B[3A\r\u001B[J');
});

test('a cleared frame leaves nothing to take back', () => {
  const { terminal, written } = screen(80);
  const frame = drawnFrame(terminal);
  frame.draw([{ text: 'one' }]);
  frame.clear();
  frame.draw([{ text: 'two' }]);
  expect(written).toEqual(['one\u001B[K\n', '\u001B[1A\r\u001B[K\n\u001B[1A\r', 'two\u001B[K\n']);
});
