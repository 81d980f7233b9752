// A file that is kept as it should be: it is read first and written only where its text or its mode differs, so that
// looking at it changes nothing.
import { dirname } from 'node:path';
import type { Files } from './files.ts';

export interface KeptFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** True when it was written. */
export async function writeIfChanged(files: Files, { path, text, mode }: KeptFile): Promise<boolean> {
  const [present, facts] = await Promise.all([files.readIfPresent(path), files.facts(path)]);
  if (present !== undefined && Buffer.from(present).toString('utf8') === text && facts?.mode === mode) return false;
  await files.makeFolder(dirname(path), { mode: mode === 0o600 ? 0o700 : 0o755 });
  await files.write(path, text, { mode });
  return true;
}
