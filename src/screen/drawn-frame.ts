// A frame on a terminal, redrawn in place: each drawing is one write that overwrites the old frame line by line, so
// that nothing flickers. The screen is never cleared as a whole: terminals keep cleared lines in their history, and a
// long run would leave thousands of old frames there. The cursor rests below the frame: what is printed next has its
// own line.
import type { Terminal } from '../host/terminal.ts';
import type { TerminalSequence } from '../host/terminal-text.ts';
import type { FrameLine } from './frame.ts';

export interface DrawnFrame {
  readonly draw: (lines: readonly FrameLine[]) => void;
  /** Removes the frame, so that another line can be printed. */
  readonly clear: () => void;
}

const lineEnd: readonly (string | TerminalSequence)[] = [{ clear: 'to-line-end' }, '\n'];

export function drawnFrame(terminal: Pick<Terminal, 'draw' | 'columns'>): DrawnFrame {
  let drawn: readonly FrameLine[] = [];
  /** Rows at the present width: a terminal that became narrower has wrapped the lines of the frame. */
  const rowsDrawn = (): number => {
    const columns = Math.max(1, terminal.columns());
    return drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.text.length / columns)), 0);
  };
  return {
    draw: (lines) => {
      const rest = drawn.length === 0 ? [] : [{ clear: 'to-screen-end' } as const];
      terminal.draw([{ up: rowsDrawn() }, ...lines.flatMap(linePieces), ...rest]);
      drawn = lines;
    },
    clear: () => {
      const rows = rowsDrawn();
      terminal.draw([{ up: rows }, ...Array.from({ length: rows }, () => lineEnd).flat(), { up: rows }]);
      drawn = [];
    },
  };
}

function linePieces({ text, color }: FrameLine): readonly (string | TerminalSequence)[] {
  return [...(color === undefined ? [text] : [{ color }, text, { color: 'none' } as const]), ...lineEnd];
}
