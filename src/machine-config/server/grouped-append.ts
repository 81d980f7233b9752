// Many writers, few syncs: whatever arrives while one write is under way goes into the next one together. Each promise
// resolves when its own record is on the disk. A write that failed is taken back, so that a disk that was full once
// leaves no half a line behind.
import type { AppendHandle } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';

export interface GroupedAppend {
  append(record: object): Promise<void>;
  close(): Promise<void>;
}

interface Batch {
  readonly beganAtMs: number;
  text: string;
  readonly written: PromiseWithResolvers<void>;
}

export interface AppendedFile {
  readonly path: string;
  /** What is in the file and is to stay. */
  readonly sizeBytes: number;
}

/** Records of this time go together at least: a sync costs more than the records in it, and a machine has this time. */
const gatherMs = 2;
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
    if (isTorn) await files.truncate(file.path, goodBytes);
    isTorn = true;
    await handle.append(text);
    isTorn = false;
    goodBytes += Buffer.byteLength(text);
  };
  const write = async (): Promise<void> => {
    while (waiting !== undefined) {
      // While the last write was under way the next one has had its time: a slow disk is never made slower.
      const openMs = clock.monotonicMs() - waiting.beganAtMs;
      if (openMs < gatherMs) await clock.sleep(gatherMs - openMs);
      const { text, written } = waiting;
      waiting = undefined;
      using _deadline = clock.after(deadlineMs, () => {
        const late = new Error(`${file.path} was not written within ${deadlineMs / 1000} s`);
        written.reject(late);
        waiting?.written.reject(late);
      });
      await writeBatch(text).then(written.resolve, written.reject);
    }
    writing = undefined;
  };
  return {
    append: (record) => {
      waiting ??= { beganAtMs: clock.monotonicMs(), text: '', written: Promise.withResolvers<void>() };
      waiting.text += `${JSON.stringify(record)}\n`;
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
