// A frame on a terminal, redrawn in place: each drawing is one write that overwrites the old frame line by line, so
// that nothing flickers. The screen is never cleared as a whole: terminals keep cleared lines in their history, and a
// long run would leave thousands of old frames there. The cursor rests below the frame: what is printed next has its
// own line.
import type { Terminal } from '../host/terminal.ts';

export interface DrawnFrame {
  readonly draw: (lines: readonly string[]) => void;
  /** Removes the frame, so that another line can be printed. */
  readonly clear: () => void;
}

// oxlint-disable-next-line eslint/no-control-regex -- the escape character is what a colour begins with
const colorCode = /\u001B\[\d+m/g;
const toLineEnd = '\u001B[K';
const toScreenEnd = '\u001B[J';

export function drawnFrame(terminal: Pick<Terminal, 'err' | 'columns'>): DrawnFrame {
  let drawn: readonly string[] = [];
  /** Rows at the present width: a terminal that became narrower has wrapped the lines of the frame. */
  const rowsDrawn = (): number => {
    const columns = Math.max(1, terminal.columns());
    return drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(plainLength(line) / columns)), 0);
  };
  const up = (rows: number): string => (rows === 0 ? '' : `\u001B[${rows}A\r`);
  return {
    draw: (lines) => {
      const rest = drawn.length === 0 ? '' : toScreenEnd;
      terminal.err(`${up(rowsDrawn())}${lines.map((line) => `${line}${toLineEnd}\n`).join('')}${rest}`);
      drawn = lines;
    },
    clear: () => {
      const rows = rowsDrawn();
      terminal.err(`${up(rows)}${`${toLineEnd}\n`.repeat(rows)}${up(rows)}`);
      drawn = [];
    },
  };
}

function plainLength(line: string): number {
  return line.replaceAll(colorCode, '').length;
}
