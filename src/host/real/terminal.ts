// The real terminal. Colours are off when NO_COLOR is set, TERM is dumb, or stderr is not a terminal.
import type { Terminal } from '../terminal.ts';

export function realTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // A reader that went away (`firstlight … | head`) is not an error of ours.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTerminal: Boolean(stdout.isTTY),
    errIsTerminal: Boolean(stderr.isTTY),
    inIsTerminal: Boolean(stdin.isTTY),
    hasColors: Boolean(stderr.isTTY) && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    columns: () => stderr.columns ?? 80,
    ask: async (question, signal) => {
      const { createInterface } = await import('node:readline/promises');
      const reader = createInterface({ input: stdin, output: stderr });
      const closed = new Promise<undefined>((resolve) => reader.once('close', () => resolve(undefined)));
      try {
        return await Promise.race([reader.question(question, signal === undefined ? {} : { signal }), closed]);
      } finally {
        reader.close();
      }
    },
  };
}
