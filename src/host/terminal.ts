// The terminal of the user. Results go to `out`, progress and questions to `err`; nothing else prints. Whatever a text
// says, and whoever wrote it, its control characters are shown and not obeyed (terminal-text.ts).
import type { TerminalSequence } from './terminal-text.ts';

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Text on stderr with colours and movements of the cursor. */
  readonly draw: (pieces: readonly (string | TerminalSequence)[]) => void;
  /** The content of a file as a result: unchanged on a pipe, like any text on a terminal. */
  readonly outContent: (content: string) => void;
  /** Can we draw and ask, or is somebody piping us? */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly inIsTerminal: boolean;
  readonly hasColors: boolean;
  columns(): number;
  rows(): number;
  /** Whether the cursor can be moved: what is drawn can be drawn over. */
  readonly canDraw: boolean;
  /** Asks on stderr, reads one line from stdin; undefined when stdin ended. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
}
