// The names of what a change keeps beside a path, on the same file system: dot files, which kubelet, systemd and other
// readers of folders do not look at. There is one change at a time, so the names need no number.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';

/** The new contents, until they are renamed to the path. */
export function stagedPath(path: string): string {
  return sibling(path, 'firstlight-new');
}

/** A second name of what was at the path before. */
export function keptPath(path: string): string {
  return sibling(path, 'firstlight-old');
}

/** A copy of a file that no config wrote; it stays when the change is done. */
export function setAsidePath(path: string): string {
  return `${daemonFiles.setAside}${path}`;
}

/** The file system takes names of 255 bytes. */
const longestName = 200;

function sibling(path: string, suffix: string): string {
  const name = posix.basename(path);
  const isLong = Buffer.byteLength(name) > longestName;
  const short = isLong ? createHash('sha256').update(name).digest('hex') : name;
  return posix.join(posix.dirname(path), `.${short}.${suffix}`);
}
