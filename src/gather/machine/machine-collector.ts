// What is taken from a machine, as values: a collector names files by patterns, journals by units and programs by their
// command line, and nothing else is ever read. A machine that runs answers by one script for all of them; of a machine
// that is stopped, files and journals are read from outside.

/** Files of the machine whose paths fit one of the patterns; `*` stands for any name, never for a slash. */
export interface FilesPart {
  readonly kind: 'files';
  readonly patterns: readonly string[];
  /** The path in the folder of the machine in the bundle. */
  readonly place: (path: string) => string;
}

/** The newest lines of the journal. */
export interface JournalPart {
  readonly kind: 'journal';
  readonly file: string;
  /** All units when empty. */
  readonly units: readonly string[];
  readonly lines: number;
}

/** What a program of the machine prints, its errors too. Only of a machine that runs. */
export interface CommandPart {
  readonly kind: 'command';
  readonly file: string;
  /** A line of the shell. */
  readonly command: string;
}

/** A script that calls `put PATH` with the content on its standard input. Only of a machine that runs. */
export interface ScriptPart {
  readonly kind: 'script';
  readonly script: string;
}

export type CollectorPart = FilesPart | JournalPart | CommandPart | ScriptPart;

export interface MachineCollector {
  readonly name: string;
  /** What it takes, for `gather --collectors` and the documentation. */
  readonly takes: string;
  readonly parts: readonly CollectorPart[];
}
