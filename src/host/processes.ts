// Other programs. A run has a deadline and an abort signal; its output is data, never printed from here.
export interface RunOptions {
  readonly cwd?: string;
  /** Added to our own variables; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called per line of both streams while the program runs. */
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Kept output per stream; what is beyond is dropped from the front. Default 16 MiB. */
  readonly keepBytes?: number;
}

export interface RunResult {
  /** Exit code, or undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface DetachedOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** stdout and stderr are appended here. */
  readonly logPath: string;
}

export interface Processes {
  /** Runs to its end. A program that cannot be started throws HOST_PROGRAM_MISSING; a non-zero exit does not throw. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Runs with our own terminal as stdin, stdout and stderr. */
  runInteractive(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Starts a process in its own session that outlives us; resolves with its pid once it runs. */
  startDetached(program: string, args: readonly string[], options: DetachedOptions): Promise<number>;
  /** The absolute path of a program on the PATH, or undefined. */
  find(program: string): Promise<string | undefined>;
  /** Signals one process by id. False when there is no such process. */
  kill(pid: number, signal: string | number): boolean;
  isAlive(pid: number): boolean;
}
