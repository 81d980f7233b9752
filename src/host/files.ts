// Files: writes are atomic and durable by default, and a file has its mode from the first byte. A reader always sees
// either the old or the new content, even after a crash.
export interface WriteOptions {
  /** Permission bits of the new file, which replaces an existing file and its mode. Default 0o644. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** False skips the fsync: still atomic for readers, but a power failure may lose it. For what can be made again. */
  readonly isDurable?: boolean;
}

export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly sizeBytes: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedAt: Date;
  /** Two paths with the same identity are the same file or folder. */
  readonly identity: string;
}

/** An open file: a resolved `append` is on the disk, unless it was opened with `isDurable: false`. */
export interface AppendHandle extends AsyncDisposable {
  append(content: Uint8Array | string): Promise<void>;
}

export interface FolderLock extends AsyncDisposable {
  readonly path: string;
}

/** The process that holds a lock, as far as it answers. */
export interface LockHolder {
  readonly pid?: number;
  readonly purpose?: string;
}

export interface Files {
  read(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  /** Undefined if there is no such file; every other failure throws. */
  readIfPresent(path: string): Promise<Uint8Array | undefined>;
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Atomic: temporary file in the same folder, fsync, rename, fsync of the folder. The folder must exist. */
  write(path: string, content: Uint8Array | string, options?: WriteOptions): Promise<void>;
  /** Like `write` for a stream; if the stream fails, nothing of it stays. */
  writeStream(path: string, content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<void>;
  openAppend(path: string, options?: WriteOptions): Promise<AppendHandle>;
  truncate(path: string, sizeBytes: number): Promise<void>;
  /** Makes the folder and its parents. An existing folder is no error and keeps its mode. */
  makeFolder(path: string, options?: { readonly mode?: number }): Promise<void>;
  /** Names in the folder, sorted; undefined if there is no such folder. */
  list(path: string): Promise<readonly string[] | undefined>;
  /** Does not follow a link; undefined if nothing has this path. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** With `isDurable`, a power failure does not lose it; needs no space on the disk. */
  rename(from: string, to: string, options?: { readonly isDurable?: boolean }): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  /** A second name for the same file or link on the same disk; only for content that is replaced, never changed. */
  hardLink(existing: string, path: string): Promise<void>;
  readLink(path: string): Promise<string>;
  realPath(path: string): Promise<string>;
  setMode(path: string, mode: number): Promise<void>;
  /** Does not follow a link. */
  setOwner(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void>;
  /** Removes a file or a whole tree. A path that does not exist is no error. */
  remove(path: string): Promise<void>;
  /** False if something is in the folder, which then stays. A path that does not exist is no error. */
  removeEmptyFolder(path: string): Promise<boolean>;
  /** Makes a new folder with mode 0700 in the temporary folder of the machine. The caller removes it. */
  makeTemporaryFolder(prefix: string): Promise<string>;
  /** Free bytes on the disk that holds `path`. */
  freeBytes(path: string): Promise<number>;
  /** Exclusive among processes of one network namespace; the kernel frees it when the process ends. */
  lock(folder: string, purpose: string): Promise<FolderLock | { readonly heldBy: LockHolder }>;
  /**
   * Exclusive among all processes that see this file, also in other namespaces; undefined if another process holds it.
   * The kernel frees the lock when the process ends; the file stays.
   */
  lockFile(path: string): Promise<FolderLock | undefined>;
  /** Calls `changed` after any change directly in the folder. It is only a hint to look again. */
  watch(folder: string, changed: () => void): Disposable;
}
