// A frame on a terminal, redrawn in place: each drawing is one write that goes over what stood there line by line, so
// nothing flickers. The screen is never cleared as a whole: terminals keep what is cleared from the top in their history,
// and a long run would leave thousands of old frames there. It ends above the cursor, so that whatever is printed next
// starts on a line of its own.
import type { Terminal } from '../host/terminal.ts';

export interface DrawnFrame {
  readonly draw: (lines: readonly string[]) => void;
  /** Takes the frame away, for a line that has to be said in between. */
  readonly clear: () => void;
}

// oxlint-disable-next-line eslint/no-control-regex -- the escape character is what a colour begins with
const colorCode = /\u001B\[\d+m/g;
const toLineEnd = '\u001B[K';
const toScreenEnd = '\u001B[J';

export function drawnFrame(terminal: Pick<Terminal, 'err' | 'columns'>): DrawnFrame {
  let drawn: readonly string[] = [];
  /** Lines are counted at the width of now: a terminal that became narrower has wrapped what it showed. */
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
