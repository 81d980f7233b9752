// Many writers, few syncs: whatever arrives while one write is under way goes into the next one together. Each promise
// resolves when its own record is on the disk. A write that failed is taken back, so that a disk that was full once
// leaves no half a line behind.
import type { AppendHandle, Files } from '../../host/files.ts';

export interface GroupedAppend {
  append(record: object): Promise<void>;
  close(): Promise<void>;
}

interface Batch {
  text: string;
  readonly written: PromiseWithResolvers<void>;
}

export interface AppendedFile {
  readonly path: string;
  /** What is in the file and is to stay. */
  readonly sizeBytes: number;
}

export async function groupedAppend(files: Files, file: AppendedFile): Promise<GroupedAppend> {
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
      const { text, written } = waiting;
      waiting = undefined;
      await writeBatch(text).then(written.resolve, written.reject);
    }
    writing = undefined;
  };
  return {
    append: (record) => {
      const batch = (waiting ??= { text: '', written: Promise.withResolvers<void>() });
      batch.text += `${JSON.stringify(record)}\n`;
      writing ??= write();
      return batch.written.promise;
    },
    close: async () => {
      await writing;
      await handle[Symbol.asyncDispose]();
    },
  };
}
