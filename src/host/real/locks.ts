// Two locks that the kernel frees when the process that holds them ends. `lockFolder` is an abstract Unix socket named
// by the folder's identity: it leaves no file and tells who holds it, but works only in one network namespace. Another
// user can take the name and so block us, but its words are not believed. `lockFile` also works for processes that
// share only the file.
import { createHash } from 'node:crypto';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { FolderLock, LockHolder } from '../files.ts';

/** The name of the abstract socket. */
export async function lockName(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder);
  return `\0firstlight-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32)}`;
}

export async function lockFolder(folder: string, purpose: string): Promise<FolderLock | { heldBy: LockHolder }> {
  const name = await lockName(folder);
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

/** Pid and purpose of the process that holds the lock; empty if it does not answer, or is another user's. */
async function askHolder(name: string): Promise<LockHolder> {
  const said = parseHolder(await readAnswer(name));
  return said.pid !== undefined && (await isTrustedHolder(name, said.pid)) ? said : {};
}

/** Whether this process belongs to us or to root and really has the socket: what it said of itself proves nothing. */
async function isTrustedHolder(name: string, pid: number): Promise<boolean> {
  try {
    const owner = Number(/^Uid:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
    if (owner !== 0 && owner !== process.getuid?.()) return false;
    const socket = `socket:[${await listeningInode(name)}]`;
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      if ((await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')) === socket) return true;
    }
    return false;
  } catch {
    // It has just ended, or we may not look at it.
    return false;
  }
}

/** proc(5), /proc/net/unix: `… flags type state INODE @NAME`; the flag says that the socket accepts connections. */
async function listeningInode(name: string): Promise<string | undefined> {
  const rows = (await readFile('/proc/net/unix', 'utf8')).split('\n').map((row) => row.split(/\s+/));
  return rows.find(([, , , flags, , , , path]) => flags === '00010000' && path === name.replace('\0', '@'))?.[6];
}

/** What the holder says within half a second. */
function readAnswer(name: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(name);
    const done = (): void => {
      socket.destroy();
      resolve(text);
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
