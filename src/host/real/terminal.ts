// The real terminal. Colours are off if NO_COLOR is set, TERM is dumb, or stderr is not a terminal. Files and pipes are
// written directly, because opening one of Node's streams takes milliseconds; on Linux those streams write files and
// pipes synchronously too.
import { fstatSync, writeSync } from 'node:fs';
import type { Terminal } from '../terminal.ts';
import { drawnText, shownText } from '../terminal-text.ts';

export function realTerminal(): Terminal {
  const { env } = process;
  const outIsTerminal = isTerminal(1);
  const errIsTerminal = isTerminal(2);
  return {
    out: (text) => write(1, shownText(text)),
    err: (text) => write(2, shownText(text)),
    draw: (pieces) => write(2, drawnText(pieces)),
    outContent: (content) => write(1, outIsTerminal ? shownText(content) : content),
    outIsTerminal,
    errIsTerminal,
    inIsTerminal: isTerminal(0),
    hasColors: errIsTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    // Some terminals have no size and say 0, as under `script` and in CI.
    columns: () => process.stderr.columns || 80,
    rows: () => process.stderr.rows || 24,
    canDraw: errIsTerminal && env['TERM'] !== 'dumb',
    ask: async (question, signal) => {
      const { createInterface } = await import('node:readline/promises');
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      const closed = new Promise<undefined>((resolve) => reader.once('close', () => resolve(undefined)));
      try {
        return await Promise.race([
          reader.question(shownText(question), signal === undefined ? {} : { signal }),
          closed,
        ]);
      } finally {
        reader.close();
      }
    },
  };
}

/** A terminal is a character device; Node's own check takes longer and is done only for those. */
function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    // The parent process closed it.
    return false;
  }
  return Boolean([process.stdin, process.stdout, process.stderr][descriptor]?.isTTY);
}

function write(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The reader has ended (`firstlight … | head`), which is not an error.
    if (code === 'EPIPE' || code === 'EBADF') return;
    if (code !== 'EAGAIN') throw error;
    // Another process made the shared pipe non-blocking: Node's stream can wait for it.
    (descriptor === 1 ? process.stdout : process.stderr).write(rest);
  }
}
