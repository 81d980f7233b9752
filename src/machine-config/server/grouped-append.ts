// Many writers, few syncs: whatever arrives while one write is under way goes into the next one together. Each promise
// resolves when its own record is on the disk. A write that failed is taken back, so that a disk that was full once
// leaves no half a line behind.
import type { AppendHandle } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';

export interface GroupedAppend {
  /** A line without its newline, in pieces. */
  append(...line: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface Batch {
  readonly pieces: string[];
  readonly written: PromiseWithResolvers<void>;
}

export interface AppendedFile {
  readonly path: string;
  /** What is in the file and is to stay. */
  readonly sizeBytes: number;
}

/** A disk that takes longer is broken; whoever waits is told so and comes again. */
const deadlineMs = 8_000;
/** So many in one write, and the next one is sure to have as many if it waits a little. */
const rushPieces = 24;
const rushMs = 2;

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
    let isRush = false;
    while (waiting !== undefined) {
      // Whoever asks in this moment goes along; in a rush, when a sync for a few is a waste, whoever asks a moment later.
      await (isRush ? clock.sleep(rushMs) : clock.turn());
      const { pieces, written } = waiting;
      isRush = pieces.length > rushPieces;
      waiting = undefined;
      using _deadline = clock.after(deadlineMs, () => {
        const late = new Error(`${file.path} was not written within ${deadlineMs / 1000} s`);
        written.reject(late);
        waiting?.written.reject(late);
      });
      await writeBatch(pieces.join('')).then(written.resolve, written.reject);
    }
    writing = undefined;
  };
  return {
    append: (...line) => {
      waiting ??= { pieces: [], written: Promise.withResolvers<void>() };
      waiting.pieces.push(...line, '\n');
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
