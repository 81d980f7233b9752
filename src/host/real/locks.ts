// Two locks that the kernel frees when the process that holds them ends. `lockFolder` is an abstract Unix socket named
// by the folder's identity: it leaves no file and tells who holds it, but works only in one network namespace, and
// another user could take the name. `lockFile` also works for processes that share only the file.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { FolderLock, LockHolder } from '../files.ts';

export async function lockFolder(folder: string, purpose: string): Promise<FolderLock | { heldBy: LockHolder }> {
  const { dev, ino } = await stat(folder);
  const name = `\0firstlight-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32)}`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify({ pid: process.pid, purpose }));
  });
  const taken = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(name, () => resolve(true));
  });
  if (!taken) return { heldBy: await askHolder(name) };
  server.unref();
  return {
    path: folder,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Reads pid and purpose from the process that holds the lock; empty if it does not answer in half a second. */
function askHolder(name: string): Promise<LockHolder> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(name);
    const done = (): void => {
      socket.destroy();
      resolve(parseHolder(text));
    };
    socket.setTimeout(500, done);
    socket.on('data', (chunk) => {
      text = (text + chunk.toString('utf8')).slice(0, 1000);
    });
    socket.on('end', done);
    socket.on('error', done);
  });
}

function parseHolder(text: string): LockHolder {
  try {
    const { pid, purpose } = JSON.parse(text) as LockHolder;
    return { ...(typeof pid === 'number' ? { pid } : {}), ...(typeof purpose === 'string' ? { purpose } : {}) };
  } catch {
    return {};
  }
}

const sqliteBusy = 5;

/**
 * For processes that share a folder but no network namespace, such as a unit and a pod. Node has no flock; SQLite takes
 * a POSIX lock on the file and is used for nothing else here.
 */
export async function lockFile(path: string): Promise<FolderLock | undefined> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw error;
  }
  return { path, [Symbol.asyncDispose]: async () => database.close() };
}
