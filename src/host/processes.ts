// Other programs. A run can have a timeout and an abort signal; its output is returned, not printed.
export interface RunOptions {
  readonly cwd?: string;
  /** Added to the variables of this process; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  /** The user to run as, and its only group. Default: the user of this process. */
  readonly as?: { readonly uid: number; readonly gid: number } | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called per line of both streams while the program runs. */
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Bytes kept per stream: of a longer output the last ones. Default 16 MiB. */
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
  /** Waits for the end. Throws HOST_PROGRAM_MISSING if there is no such program; a non-zero exit does not throw. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Runs with stdin, stdout and stderr of this process. */
  runInteractive(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Starts a process in its own session, which continues after this one ends; resolves with its pid when it runs. */
  startDetached(program: string, args: readonly string[], options: DetachedOptions): Promise<number>;
  /** The absolute path of a program on the PATH, or undefined. */
  find(program: string): Promise<string | undefined>;
  /** Signals one process by id. False when there is no such process. */
  kill(pid: number, signal: string | number): boolean;
  isAlive(pid: number): boolean;
}
