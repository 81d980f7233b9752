// A file that is kept as it should be: it is read first and written only where its text, its mode or its owner differs,
// so that looking at it changes nothing.
import { dirname } from 'node:path';
import type { Files, WriteOptions } from './files.ts';

export interface KeptFile extends Pick<WriteOptions, 'isDurable'> {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** True when it was written. */
export async function writeIfChanged(
  files: Files,
  { path, text, mode, owner, isDurable = true }: KeptFile,
): Promise<boolean> {
  const [present, facts] = await Promise.all([files.readIfPresent(path), files.facts(path)]);
  const isOwned = owner === undefined || (facts?.uid === owner.uid && facts.gid === owner.gid);
  const isSame = present !== undefined && Buffer.from(present).toString('utf8') === text;
  if (isSame && facts?.mode === mode && isOwned) return false;
  await files.makeFolder(dirname(path), { mode: mode === 0o600 ? 0o700 : 0o755 });
  await files.write(path, text, { mode, isDurable, ...owner });
  return true;
}
