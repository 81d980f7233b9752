// A lock that the kernel frees when its holder dies: an abstract Unix socket named after the folder's identity.
// No file is left behind, a killed process never blocks the next one, and whoever is refused can ask who holds it.
// Limits: it holds among processes of one network namespace, and another user of the machine could squat the name.
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

/** Asks the holder for its pid and purpose; an empty answer when it does not tell within a moment. */
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
