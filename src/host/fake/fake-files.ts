// Files in memory with the contract of the real ones and two faults: a crash at a chosen change (everything after it
// fails, as in a killed process; what was written stays) and a full disk.
import { posix } from 'node:path';
import { hostErrors } from '../errors.ts';
import type { Files, WriteOptions } from '../files.ts';

/** Stands for the end of a killed process; the code under test must not catch it. */
export class Crash extends Error {}

export interface FakeDisk {
  readonly nodes: Map<string, FakeNode>;
  /** Changes made so far. */
  changes: number;
  /** The change with this number and all later ones do not happen. */
  crashAt?: number;
  isFull: boolean;
  readonly locked: Set<string>;
}

/** Root where it is not given. */
interface FakeOwner {
  readonly uid: number;
  readonly gid: number;
}

type FakeNode =
  | { readonly kind: 'file'; content: Buffer; readonly mode: number; readonly owner?: FakeOwner; readonly at: Date }
  | { readonly kind: 'folder'; readonly mode: number; readonly owner?: FakeOwner; readonly at: Date }
  | { readonly kind: 'link'; readonly target: string; readonly at: Date };

export function fakeDisk(): FakeDisk {
  const at = new Date(0);
  const nodes = new Map<string, FakeNode>([['/', { kind: 'folder', mode: 0o755, at }]]);
  return { nodes, changes: 0, isFull: false, locked: new Set() };
}

type FakeFile = Extract<FakeNode, { kind: 'file' }>;

export function fakeFiles(disk: FakeDisk): Files {
  return { ...readers(disk), ...writers(disk), ...movers(disk), ...folders(disk) };
}

function readers(
  disk: FakeDisk,
): Pick<Files, 'read' | 'readText' | 'readIfPresent' | 'stream' | 'readLink' | 'realPath' | 'facts'> {
  return {
    read: async (path) => Buffer.from(mustFile(disk, path).content),
    readText: async (path) => mustFile(disk, path).content.toString('utf8'),
    readIfPresent: async (path) => {
      const found = fileAt(disk, path)?.content;
      return found === undefined ? undefined : Buffer.from(found);
    },
    stream: async function* (path) {
      yield Buffer.from(mustFile(disk, path).content);
    },
    readLink: async (path) => {
      const node = disk.nodes.get(clean(path));
      return node?.kind === 'link' ? node.target : refuse('read', path, 'not a link');
    },
    realPath: async (path) => clean(path),
    facts: async (path) => {
      const node = disk.nodes.get(clean(path));
      if (node === undefined) return undefined;
      const sizeBytes = node.kind === 'file' ? node.content.length : 0;
      const mode = node.kind === 'link' ? 0o777 : node.mode;
      const owner = (node.kind === 'link' ? undefined : node.owner) ?? { uid: 0, gid: 0 };
      return { kind: node.kind, sizeBytes, mode, ...owner, modifiedAt: node.at, identity: clean(path) };
    },
  };
}

function writers(
  disk: FakeDisk,
): Pick<Files, 'write' | 'writeStream' | 'openAppend' | 'truncate' | 'setMode' | 'setOwner' | 'symlink' | 'hardLink'> {
  return {
    write: async (path, content, options) => put(disk, path, { content, ...options }),
    writeStream: async (path, content, options) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content) chunks.push(chunk);
      put(disk, path, { content: Buffer.concat(chunks), ...options });
    },
    openAppend: async (path, options) => ({
      append: async (content) => append(disk, path, { content, ...options }),
      [Symbol.asyncDispose]: async () => {},
    }),
    truncate: async (path, sizeBytes) => {
      change(disk, 'truncate', path);
      const file = mustFile(disk, path);
      file.content = file.content.subarray(0, sizeBytes);
    },
    setMode: async (path, mode) => {
      change(disk, 'change the mode of', path);
      const node = disk.nodes.get(clean(path));
      if (node !== undefined && node.kind !== 'link') disk.nodes.set(clean(path), { ...node, mode });
    },
    setOwner: async (path, { uid, gid }) => {
      change(disk, 'change the owner of', path);
      const node = disk.nodes.get(clean(path));
      if (node !== undefined && node.kind !== 'link') disk.nodes.set(clean(path), { ...node, owner: { uid, gid } });
    },
    symlink: async (target, path) => {
      change(disk, 'link', path);
      disk.nodes.set(clean(path), { kind: 'link', target, at: new Date(0) });
    },
    hardLink: async (existing, path) => {
      if (disk.nodes.has(clean(path))) refuse('link', path, 'it is there already');
      change(disk, 'link', path);
      const node = disk.nodes.get(clean(existing));
      disk.nodes.set(clean(path), node?.kind === 'link' ? node : mustFile(disk, existing));
    },
  };
}

function movers(disk: FakeDisk): Pick<Files, 'rename' | 'remove' | 'removeEmptyFolder'> {
  const tree = (path: string): readonly string[] => {
    const root = clean(path);
    if (!disk.nodes.has(root)) return [];
    return [...disk.nodes.keys()].filter((name) => name === root || name.startsWith(`${root}/`));
  };
  return {
    rename: async (from, to) => {
      change(disk, 'rename', to);
      const moved = tree(from).map((name) => [name, disk.nodes.get(name)] as const);
      if (moved.length === 0) refuse('rename', from, 'no such file or folder');
      for (const [name, node] of moved) {
        disk.nodes.delete(name);
        if (node !== undefined) disk.nodes.set(clean(to) + name.slice(clean(from).length), node);
      }
    },
    remove: async (path) => {
      const doomed = tree(path);
      if (doomed.length === 0) return;
      change(disk, 'remove', path);
      for (const name of doomed) disk.nodes.delete(name);
    },
    removeEmptyFolder: async (path) => {
      const inside = tree(path);
      if (inside.length !== 1) return inside.length === 0;
      change(disk, 'remove', path);
      return disk.nodes.delete(clean(path));
    },
  };
}

function folders(
  disk: FakeDisk,
): Pick<Files, 'makeFolder' | 'list' | 'makeTemporaryFolder' | 'freeBytes' | 'lock' | 'lockFile' | 'watch'> {
  const { nodes, locked } = disk;
  return {
    makeFolder: async (path, options) => makeFolder(disk, clean(path), options?.mode ?? 0o755),
    list: async (path) => {
      if (nodes.get(clean(path))?.kind !== 'folder') return undefined;
      const inside = [...nodes.keys()].filter((name) => name !== '/' && posix.dirname(name) === clean(path));
      return inside.map((name) => posix.basename(name)).sort();
    },
    makeTemporaryFolder: async (prefix) => {
      const path = `/tmp/${prefix}${disk.changes}`;
      makeFolder(disk, path, 0o700);
      return path;
    },
    freeBytes: async () => (disk.isFull ? 0 : 2 ** 40),
    lockFile: async (path) => {
      if (locked.has(clean(path))) return undefined;
      locked.add(clean(path));
      return { path, [Symbol.asyncDispose]: async () => void locked.delete(clean(path)) };
    },
    lock: async (folder) => {
      if (locked.has(clean(folder))) return { heldBy: {} };
      locked.add(clean(folder));
      return { path: folder, [Symbol.asyncDispose]: async () => void locked.delete(clean(folder)) };
    },
    watch: () => ({ [Symbol.dispose]: () => {} }),
  };
}

function change(disk: FakeDisk, action: string, path: string): void {
  disk.changes += 1;
  if (disk.crashAt !== undefined && disk.changes >= disk.crashAt) throw new Crash(`${action} ${path}`);
  if (disk.isFull && action === 'write') refuse(action, path, 'no space left on the disk');
}

interface Put extends WriteOptions {
  readonly content: Uint8Array | string;
}

function put(disk: FakeDisk, path: string, { content, mode, uid = 0, gid = 0 }: Put): void {
  change(disk, 'write', path);
  if (disk.nodes.get(posix.dirname(clean(path)))?.kind !== 'folder') refuse('write', path, 'no such file or folder');
  const owner = { uid, gid };
  const made = { kind: 'file', content: Buffer.from(content), mode: mode ?? 0o644, owner, at: new Date(0) } as const;
  disk.nodes.set(clean(path), made);
}

/** An append that is killed writes half of its bytes, the worst case for a reader of lines. */
function append(disk: FakeDisk, path: string, { content, mode }: Put): void {
  const next = disk.changes + 1;
  const bytes = Buffer.from(content);
  if (disk.crashAt === undefined || next <= disk.crashAt) {
    const kept = next === disk.crashAt ? bytes.subarray(0, bytes.length >> 1) : bytes;
    const before = fileAt(disk, path)?.content ?? Buffer.alloc(0);
    const joined = Buffer.concat([before, kept]);
    disk.nodes.set(clean(path), { kind: 'file', content: joined, mode: mode ?? 0o644, at: new Date(0) });
  }
  change(disk, 'append to', path);
}

function makeFolder(disk: FakeDisk, path: string, mode: number): void {
  if (disk.nodes.get(path)?.kind === 'folder') return;
  makeFolder(disk, posix.dirname(path), mode);
  change(disk, 'make', path);
  disk.nodes.set(path, { kind: 'folder', mode, at: new Date(0) });
}

function fileAt(disk: FakeDisk, path: string): FakeFile | undefined {
  const node = disk.nodes.get(clean(path));
  return node?.kind === 'file' ? node : undefined;
}

function mustFile(disk: FakeDisk, path: string): FakeFile {
  return fileAt(disk, path) ?? refuse('read', path, 'no such file or folder');
}

function clean(path: string): string {
  return posix.normalize(path).replace(/(.)\/$/, '$1');
}

function refuse(action: string, path: string, reason: string): never {
  throw hostErrors.FILE({ path, action, reason });
}
