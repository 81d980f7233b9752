// Many writers, few syncs: whatever arrives while one write is under way goes into the next one together. Each promise
// resolves when its own record is on the disk. A write that failed is taken back, so that a disk that was full once
// leaves no half a line behind.
import type { AppendHandle } from '../host/files.ts';
import type { Host } from '../host/host.ts';

export interface GroupedAppend {
  /** A line, or some, without the last newline. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

interface Batch {
  readonly lines: string[];
  readonly written: PromiseWithResolvers<void>;
}

export interface AppendedFile {
  readonly path: string;
  /** What is in the file and is to stay. */
  readonly sizeBytes: number;
}

/** A disk that takes longer is broken; whoever waits is told so and comes again. */
const deadlineMs = 8_000;

export async function groupedAppend(host: Pick<Host, 'clock' | 'files'>, file: AppendedFile): Promise<GroupedAppend> {
  const { clock, files } = host;
  const handle: AppendHandle = await files.openAppend(file.path, { mode: 0o600 });
  let goodBytes = file.sizeBytes;
  let isTorn = false;
  let waiting: Batch | undefined;
  let writing: Promise<void> | undefined;
  const writeBatch = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    if (isTorn) await files.truncate(file.path, goodBytes);
    isTorn = true;
    await handle.append(bytes);
    isTorn = false;
    goodBytes += bytes.length;
  };
  const write = async (): Promise<void> => {
    while (waiting !== undefined) {
      // Whoever asks in this moment goes along.
      await clock.turn();
      const { lines, written } = waiting;
      waiting = undefined;
      using _deadline = clock.after(deadlineMs, () => {
        const late = new Error(`${file.path} was not written within ${deadlineMs / 1000} s`);
        written.reject(late);
        waiting?.written.reject(late);
      });
      await writeBatch(`${lines.join('\n')}\n`).then(written.resolve, written.reject);
    }
    writing = undefined;
  };
  return {
    append: (lines) => {
      waiting ??= { lines: [], written: Promise.withResolvers<void>() };
      waiting.lines.push(lines);
      const { promise } = waiting.written;
      writing ??= write();
      return promise;
    },
    close: async () => {
      await writing;
      await handle[Symbol.asyncDispose]();
    },
  };
}
