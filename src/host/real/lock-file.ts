// A file lock for processes that share a folder but no network namespace (a unit and a pod, say), where the abstract
// socket of lock.ts does not reach. Node has no flock; SQLite takes POSIX locks on a file, and that is all it does here.
import type { FolderLock } from '../files.ts';

const sqliteBusy = 5;

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
