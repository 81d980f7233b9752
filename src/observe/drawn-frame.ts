// A frame on a terminal, redrawn in place: each drawing is one write, so nothing flickers. It ends above the cursor, so
// that whatever is printed next starts on a line of its own.
import type { Terminal } from '../host/terminal.ts';

export interface DrawnFrame {
  readonly draw: (lines: readonly string[]) => void;
  /** Takes the frame away, for a line that has to be said in between. */
  readonly clear: () => void;
}

// oxlint-disable-next-line eslint/no-control-regex -- the escape character is what a colour begins with
const colorCode = /\u001B\[\d+m/g;

export function drawnFrame(terminal: Pick<Terminal, 'err' | 'columns'>): DrawnFrame {
  let drawn: readonly string[] = [];
  /** Lines are counted at the width of now: a terminal that became narrower has wrapped what it showed. */
  const back = (): string => {
    const columns = Math.max(1, terminal.columns());
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(plainLength(line) / columns)), 0);
    return rows === 0 ? '' : `\u001B[${rows}A\r\u001B[J`;
  };
  return {
    draw: (lines) => {
      terminal.err(`${back()}${lines.map((line) => `${line}\n`).join('')}`);
      drawn = lines;
    },
    clear: () => {
      terminal.err(back());
      drawn = [];
    },
  };
}

function plainLength(line: string): number {
  return line.replaceAll(colorCode, '').length;
}
