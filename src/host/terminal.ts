// The terminal of the user. Results go to `out`, progress and questions to `err`; nothing else prints.
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
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
