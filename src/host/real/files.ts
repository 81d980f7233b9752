// Real files. The order temporary file → fsync → rename → fsync of the folder protects against `kill -9` and power loss
// and must stay as it is.
import { randomBytes } from 'node:crypto';
import { createReadStream, watch } from 'node:fs';
import {
  chmod,
  constants,
  type FileHandle,
  lchown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  truncate,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hostErrors } from '../errors.ts';
import type { FileFacts, Files, WriteOptions } from '../files.ts';
import { lockFile, lockFolder } from './locks.ts';

export function realFiles(): Files {
  return {
    read: (path) => named('read', path, () => readFile(path)),
    readText: (path) => named('read', path, () => readFile(path, 'utf8')),
    readIfPresent: (path) => named('read', path, () => readFile(path).catch(absent)),
    stream: (path) => createReadStream(path),
    write: (path, content, options) =>
      named('write', path, () => replace(path, options, (handle) => handle.writeFile(content))),
    writeStream: (path, content, options) =>
      named('write', path, () => replace(path, options, (handle) => handle.writeFile(content))),
    openAppend: (path, options) => named('open', path, () => openAppend(path, options)),
    truncate: (path, sizeBytes) => named('truncate', path, () => truncate(path, sizeBytes)),
    makeFolder: (path, options) => named('make', path, () => makeFolder(path, options?.mode ?? 0o755)),
    list: (path) => named('list', path, () => readdir(path).then((names) => names.sort(), absent)),
    facts: (path) => named('look at', path, () => facts(path)),
    rename: (from, to, options) => named('rename', from, () => renameFile(from, to, options?.isDurable === true)),
    symlink: (target, path) => named('link', path, () => symlink(target, path)),
    hardLink: (existing, path) => named('link', path, () => link(existing, path)),
    readLink: (path) => named('read', path, () => readlink(path)),
    realPath: (path) => named('resolve', path, () => realpath(path)),
    setMode: (path, mode) => named('change the mode of', path, () => chmod(path, mode)),
    setOwner: (path, { uid, gid }) => named('change the owner of', path, () => lchown(path, uid, gid)),
    remove: (path) => named('remove', path, () => rm(path, { recursive: true, force: true })),
    removeEmptyFolder: (path) => named('remove', path, () => removeEmptyFolder(path)),
    makeTemporaryFolder: (prefix) => named('make a folder in', tmpdir(), () => mkdtemp(join(tmpdir(), prefix))),
    freeBytes: (path) => named('look at', path, () => statfs(path).then((s) => s.bavail * s.bsize)),
    lock: (folder, purpose) => named('lock', folder, () => lockFolder(folder, purpose)),
    lockFile: (path) => named('lock', path, () => lockFile(path)),
    watch: (folder, changed) => {
      const watcher = watch(folder, () => changed());
      // If the folder is removed, the watch ends; callers also observe by themselves.
      watcher.on('error', () => watcher.close());
      return { [Symbol.dispose]: () => watcher.close() };
    },
  };
}

async function replace(
  path: string,
  options: WriteOptions = {},
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  const handle = await open(temporary, 'wx', options.mode ?? 0o644);
  try {
    // The umask may have removed bits of the wanted mode.
    await handle.chmod(options.mode ?? 0o644);
    if (options.uid !== undefined || options.gid !== undefined)
      await handle.chown(options.uid ?? -1, options.gid ?? -1);
    await fill(handle);
    if (options.isDurable !== false) await handle.sync();
    await handle.close();
    await rename(temporary, path);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  if (options.isDurable !== false) await syncFolder(folder);
}

async function renameFile(from: string, to: string, isDurable: boolean): Promise<void> {
  await rename(from, to);
  if (isDurable) await syncFolder(dirname(to));
}

async function removeEmptyFolder(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** With O_DSYNC a write that has returned is on the disk, without a call of fsync. */
async function openAppend(path: string, options: WriteOptions = {}): ReturnType<Files['openAppend']> {
  const { O_APPEND, O_CREAT, O_DSYNC, O_WRONLY } = constants;
  const durably = options.isDurable === false ? 0 : O_DSYNC;
  const handle = await open(path, O_APPEND | O_CREAT | O_WRONLY | durably, options.mode ?? 0o644);
  return {
    append: (content) =>
      named('append to', path, async () => {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content;
        for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
      }),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Not the recursive mkdir, which reports ENOENT for a read-only file system. */
async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) {
      await makeFolder(dirname(path), mode);
      return makeFolder(path, mode);
    }
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw error;
  }
}

async function facts(path: string): Promise<FileFacts | undefined> {
  const stat = await lstat(path).catch(absent);
  if (stat === undefined) return undefined;
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other';
  return {
    kind,
    sizeBytes: stat.size,
    mode: stat.mode & 0o7777,
    uid: stat.uid,
    gid: stat.gid,
    modifiedAt: stat.mtime,
    identity: `${stat.dev}:${stat.ino}`,
  };
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  EIO: 'the disk reported an input/output error',
};

/** Runs a file operation and turns an error of the kernel into a HOST_FILE error that names the path. */
async function named<T>(action: string, path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw hostErrors.FILE({ path, action, reason: reasons[code] ?? code }, { cause: error });
  }
}
