// Files as the product needs them: atomic and durable by default, secret modes from the first byte.
// A reader sees the old content or the new, never a mixture, whatever happens in between.
export interface WriteOptions {
  /** Permission bits of the new file; existing files are replaced, so their mode does not linger. Default 0o644. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** False skips the fsync: still atomic for every reader, but lost with the power. For what is rebuilt when lost. */
  readonly isDurable?: boolean;
}

export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly sizeBytes: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedAt: Date;
  /** Identifies the object itself: two paths with the same identity are the same file or folder. */
  readonly identity: string;
}

/** An open log: every `append` is on the disk when it resolves, unless it was opened with `isDurable: false`. */
export interface AppendHandle extends AsyncDisposable {
  append(content: Uint8Array | string): Promise<void>;
}

export interface FolderLock extends AsyncDisposable {
  readonly path: string;
}

/** Who holds a lock that could not be taken, as far as it says. */
export interface LockHolder {
  readonly pid?: number;
  readonly purpose?: string;
}

export interface Files {
  read(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  /** The content, or undefined where there is no such file; every other failure throws. */
  readIfPresent(path: string): Promise<Uint8Array | undefined>;
  /** Streams a large file. */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Atomic: temporary file in the same folder, fsync, rename, fsync of the folder. The folder must exist. */
  write(path: string, content: Uint8Array | string, options?: WriteOptions): Promise<void>;
  /** The same for a stream; nothing of it stays when the stream fails. */
  writeStream(path: string, content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<void>;
  openAppend(path: string, options?: WriteOptions): Promise<AppendHandle>;
  truncate(path: string, sizeBytes: number): Promise<void>;
  /** Makes the folder and its parents; an existing folder is fine and keeps its mode. */
  makeFolder(path: string, options?: { readonly mode?: number }): Promise<void>;
  /** Names in the folder, sorted; undefined where there is no such folder. */
  list(path: string): Promise<readonly string[] | undefined>;
  /** Facts about the object itself (links are not followed); undefined where there is none. */
  facts(path: string): Promise<FileFacts | undefined>;
  rename(from: string, to: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  /** A second name for the same file, on the same disk; for content that never changes again. */
  hardLink(existing: string, path: string): Promise<void>;
  readLink(path: string): Promise<string>;
  realPath(path: string): Promise<string>;
  setMode(path: string, mode: number): Promise<void>;
  /** Removes a file or a whole tree; nothing there is fine. */
  remove(path: string): Promise<void>;
  /** A fresh folder, 0700, in the machine's temporary folder. The caller removes it. */
  makeTemporaryFolder(prefix: string): Promise<string>;
  /** Free bytes on the disk that holds `path`. */
  freeBytes(path: string): Promise<number>;
  /** Exclusive among processes of this machine; the kernel frees it when the process dies. */
  lock(folder: string, purpose: string): Promise<FolderLock | { readonly heldBy: LockHolder }>;
  /**
   * Exclusive among all processes that see this file, whatever their namespaces; undefined when somebody holds it.
   * The file stays behind, the lock does not: the kernel frees it when the process dies.
   */
  lockFile(path: string): Promise<FolderLock | undefined>;
  /** Calls back on any change directly in the folder; a hint to look again, never a fact. */
  watch(folder: string, changed: () => void): Disposable;
}
