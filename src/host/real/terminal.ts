// The real terminal. Colours are off when NO_COLOR is set, TERM is dumb, or stderr is not a terminal.
import { isatty } from 'node:tty';
import type { Terminal } from '../terminal.ts';

export function realTerminal(): Terminal {
  const { env } = process;
  const errIsTerminal = isatty(2);
  return {
    out: (text) => void quietly('stdout').write(text),
    err: (text) => void quietly('stderr').write(text),
    outIsTerminal: isatty(1),
    errIsTerminal,
    inIsTerminal: isatty(0),
    hasColors: errIsTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    columns: () => process.stderr.columns ?? 80,
    ask: async (question, signal) => {
      const { createInterface } = await import('node:readline/promises');
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      const closed = new Promise<undefined>((resolve) => reader.once('close', () => resolve(undefined)));
      try {
        return await Promise.race([reader.question(question, signal === undefined ? {} : { signal }), closed]);
      } finally {
        reader.close();
      }
    },
  };
}

const watched = new Set<string>();

/** Opened when first written to: each stream costs milliseconds. A reader that went away is not an error of ours. */
function quietly(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
  const stream = process[name];
  if (!watched.has(name)) {
    watched.add(name);
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return stream;
}
