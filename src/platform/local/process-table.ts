// The processes of this host, read from /proc. This is how the platform finds what runs; there are no pid files.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Files } from '../../host/files.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly args: readonly string[];
}

export async function readProcessTable(files: Files): Promise<readonly ProcessEntry[]> {
  const names = (await files.list('/proc')) ?? [];
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(pids.map((pid) => readProcess(files, pid)));
  return entries.filter((entry) => entry !== undefined);
}

/** Undefined for kernel threads, zombies and processes that have just ended. */
async function readProcess(files: Files, pid: number): Promise<ProcessEntry | undefined> {
  const commandLine = await readProcFile(files, `/proc/${pid}/cmdline`);
  if (commandLine === '') return undefined;
  return { pid, args: commandLine.replace(/\0$/, '').split('\0') };
}

/** Is this process number 1 of a pid namespace of its own, and a child of `parent`? */
export async function isInitUnder(files: Files, pid: number, parent: number): Promise<boolean> {
  const status = await readProcFile(files, `/proc/${pid}/status`);
  const pids = /^NSpid:\s*(.+)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]) === parent && pids.length > 1 && pids.at(-1) === '1';
}

/** Empty where the process is gone. */
async function readProcFile(files: Files, path: string): Promise<string> {
  try {
    return Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array()).toString('utf8');
  } catch (error) {
    // When the process ends between open and read, the read fails with ESRCH.
    if (isError(error, hostErrors.FILE)) return '';
    throw error;
  }
}
