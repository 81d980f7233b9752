// What makes a process ours. Every process that this platform starts first writes its own pid and start time into a
// file that only root can write, and then becomes its program. Command lines, names and owners count for nothing,
// because any user can start a process with any of them. No second process gets the same pid and start time.
import { bootIdFile } from '../../contract/machine-paths.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';

export interface OwnProcess {
  readonly pid: number;
  /** Clock ticks since the boot of this host, as the kernel writes it. */
  readonly startTime: string;
}

/** The shell's words that record the shell itself in `file`, which is a word of the shell too. */
export function recordItself(file: string): string {
  return `(umask 077; cat ${bootIdFile} /proc/$$/stat > ${file})`;
}

/** The process that a record is about; undefined when it has ended, or when nothing was recorded. */
export async function readRecord(files: Files, file: string): Promise<OwnProcess | undefined> {
  const recorded = await parseRecord(files, file);
  if (recorded === undefined || recorded.bootId !== (await readText(files, bootIdFile)).trim()) return undefined;
  const { pid, startTime } = recorded;
  return (await isRunning(files, recorded)) ? { pid, startTime } : undefined;
}

/** Whether a process has recorded itself here, also one that has ended since. */
export async function hasRecord(files: Files, file: string): Promise<boolean> {
  return (await parseRecord(files, file)) !== undefined;
}

/** Undefined also while a process has not finished writing it. */
async function parseRecord(files: Files, file: string): Promise<(OwnProcess & { bootId: string }) | undefined> {
  const [bootId = '', stat = ''] = (await readText(files, file)).split('\n');
  const recorded = parseStat(stat);
  return recorded && { ...recorded, bootId };
}

/** Whether this very process still runs; another one may have its pid by now. */
export async function isRunning(files: Files, { pid, startTime }: OwnProcess): Promise<boolean> {
  return (await readProcess(files, pid))?.startTime === startTime;
}

export async function signalProcess(host: Host, process: OwnProcess, signal: string | number): Promise<void> {
  if (await isRunning(host.files, process)) host.processes.kill(process.pid, signal);
}

export interface Child extends OwnProcess {
  /** Path of the program that it runs. */
  readonly program: string;
}

/** The child that is number 1 of a pid namespace of its own, once it runs another program than its parent. */
export async function findInit(files: Files, parent: OwnProcess): Promise<Child | undefined> {
  const parentProgram = await readProgram(files, parent.pid);
  for (const pid of await childrenOf(files, parent.pid)) {
    const child = await readProcess(files, pid);
    if (child?.parent !== parent.pid) continue;
    const numbers = /^NSpid:\s*(.+)$/m.exec(await readText(files, `/proc/${pid}/status`))?.[1]?.split(/\s+/) ?? [];
    const program = await readProgram(files, pid);
    if (numbers.length < 2 || numbers.at(-1) !== '1' || program === '' || program === parentProgram) continue;
    // Everything above was read about these two processes only if both are still there.
    if (!(await isRunning(files, child)) || !(await isRunning(files, parent))) continue;
    return { pid, startTime: child.startTime, program };
  }
  return undefined;
}

/** Not every kernel lists the children of a process (CONFIG_PROC_CHILDREN); then all processes are looked at. */
async function childrenOf(files: Files, pid: number): Promise<readonly number[]> {
  const listed = await files.readIfPresent(`/proc/${pid}/task/${pid}/children`).catch(unlessGone);
  const words = listed === undefined ? await files.list('/proc') : Buffer.from(listed).toString('utf8').split(' ');
  return (words ?? []).filter((word) => /^\d+$/.test(word)).map(Number);
}

interface RunningProcess extends OwnProcess {
  readonly parent: number;
}

/** Undefined for a process that has ended, also when its parent has not yet noticed. */
async function readProcess(files: Files, pid: number): Promise<RunningProcess | undefined> {
  const found = parseStat(await readText(files, `/proc/${pid}/stat`));
  return found === undefined || /[ZXx]/.test(found.state) ? undefined : found;
}

/** proc(5), stat: `pid (name) state parent … starttime …`. The name may contain anything, brackets too. */
function parseStat(stat: string): (RunningProcess & { readonly state: string }) | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = ''] = fields;
  const startTime = fields[19] ?? '';
  const pid = Number.parseInt(stat, 10);
  if (!(pid > 0) || !/^\d+$/.test(startTime)) return undefined;
  return { pid, startTime, parent: Number(parent), state };
}

async function readProgram(files: Files, pid: number): Promise<string> {
  return (await files.readLink(`/proc/${pid}/exe`).catch(unlessGone)) ?? '';
}

/** Empty where the process is gone. */
async function readText(files: Files, path: string): Promise<string> {
  return Buffer.from((await files.readIfPresent(path).catch(unlessGone)) ?? new Uint8Array()).toString('utf8');
}

/** When the process ends between open and read, the read fails with ESRCH. */
function unlessGone(error: unknown): undefined {
  if (isError(error, hostErrors.FILE)) return undefined;
  throw error;
}
