// Real processes. Every run has its own process group, so that a timeout or an abort also ends its children.
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, open } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Environment } from '../environment.ts';
import { hostErrors } from '../errors.ts';
import type { DetachedOptions, Processes, RunOptions, RunResult } from '../processes.ts';

const keepBytesDefault = 16 * 1024 * 1024;
const killGraceMs = 2_000;

export function realProcesses(environment: Environment): Processes {
  return {
    // `async`, so that an earlier abort rejects the promise and does not throw.
    run: async (program, args, options) => run(program, args, options ?? {}, 'capture'),
    runInteractive: async (program, args, options) => run(program, args, options ?? {}, 'inherit'),
    startDetached: (program, args, options) => startDetached(program, args, options),
    find: (program) => find(program, environment.variables['PATH'] ?? ''),
    kill: (pid, signal) => sendSignal(pid, signal),
    isAlive: (pid) => sendSignal(pid, 0),
  };
}

function run(
  program: string,
  args: readonly string[],
  options: RunOptions,
  mode: 'capture' | 'inherit',
): Promise<RunResult> {
  options.signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.as,
      env: { ...process.env, ...options.env },
      stdio: mode === 'inherit' ? 'inherit' : [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: mode === 'capture',
    });
    const output = { stdout: collect(child, 'stdout', options), stderr: collect(child, 'stderr', options) };
    let timedOut = false;
    const end = (): void => endGroup(child, mode === 'capture');
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            end();
          }, options.timeoutMs);
    options.signal?.addEventListener('abort', end, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', end);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle();
      reject(error.code === 'ENOENT' ? hostErrors.PROGRAM_MISSING({ program }, { cause: error }) : error);
    });
    child.on('close', (code, signal) => {
      settle();
      if (options.signal?.aborted) return reject(options.signal.reason as Error);
      resolve({
        code: code ?? undefined,
        signal: signal ?? undefined,
        stdout: output.stdout(),
        stderr: output.stderr(),
        timedOut,
      });
    });
    child.stdin?.on('error', () => {});
    if (options.input !== undefined) child.stdin?.end(options.input);
  });
}

/** Keeps the end of one stream and reports whole lines when they come. */
function collect(child: ChildProcess, stream: 'stdout' | 'stderr', options: RunOptions): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  let rest = '';
  // A character may be in two chunks.
  const decoder = new StringDecoder('utf8');
  child[stream]?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size > (options.keepBytes ?? keepBytesDefault) && chunks.length > 1) size -= chunks.shift()?.length ?? 0;
    if (options.onLine === undefined) return;
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) options.onLine(line, stream);
  });
  child[stream]?.on('end', () => {
    rest += decoder.end();
    if (rest !== '') options.onLine?.(rest, stream);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function endGroup(child: ChildProcess, isGroupLeader: boolean): void {
  const target = child.pid;
  if (target === undefined) return;
  const pid = isGroupLeader ? -target : target;
  sendSignal(pid, 'SIGTERM');
  const timer = setTimeout(() => sendSignal(pid, 'SIGKILL'), killGraceMs);
  child.once('close', () => clearTimeout(timer));
}

function sendSignal(pid: number, signal: string | number): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return true;
    return false;
  }
}

async function startDetached(program: string, args: readonly string[], options: DetachedOptions): Promise<number> {
  const log = await open(options.logPath, 'a', 0o600);
  try {
    return await new Promise<number>((resolve, reject) => {
      const child = spawn(program, args, {
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: { ...process.env, ...options.env },
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
      });
      child.on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ENOENT' ? hostErrors.PROGRAM_MISSING({ program }, { cause: error }) : error),
      );
      child.on('spawn', () => {
        child.unref();
        resolve(child.pid ?? 0);
      });
    });
  } finally {
    await log.close();
  }
}

async function find(program: string, path: string): Promise<string | undefined> {
  const candidates = isAbsolute(program)
    ? [program]
    : [...path.split(delimiter), '/usr/sbin', '/sbin'].filter((folder) => folder !== '').map((f) => join(f, program));
  for (const candidate of candidates) {
    if (
      await access(candidate, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return candidate;
  }
  return undefined;
}
