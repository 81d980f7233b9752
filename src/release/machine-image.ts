// What the current release offers to whoever makes machines. All of it is shared by all machines and read-only:
// the root lies under an overlay, the seed is cloned (see `seedDatabases` for what must be a real copy).
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { seedDatabases } from './machine/containerd-seed.ts';
import { type CurrentRelease, currentEntry, currentRelease } from './current.ts';
import type { CacheEntry, CacheEntryKind } from './cache/cache.ts';
import { releaseErrors } from './errors.ts';

export interface MachineImage {
  /** Debian with the parts and Firstlight: the lower folder of every machine's overlay. */
  readonly rootFolder: string;
  /** A containerd root with every image of the release imported and unpacked. */
  readonly containerdSeed: string;
  /** Files below the seed that a clone must copy; everything else may be a hard link. */
  readonly seedDatabases: readonly string[];
  /** The CoreDNS program, for the name server of a lab on this host. */
  readonly coredns: string;
  /** Of the machine's root and so of everything in it, the release manifest included. */
  readonly digest: string;
  readonly releaseDigest: string;
}

export async function machineImage(host: Host): Promise<MachineImage> {
  const current = await currentRelease(host);
  const [root, seed] = [await entryOf(current, 'root', 'machine'), await entryOf(current, 'seed', 'containerd')];
  return {
    rootFolder: root.content,
    containerdSeed: seed.content,
    seedDatabases,
    coredns: join((await entryOf(current, 'part', 'coredns')).content, 'bin/coredns'),
    digest: root.manifest.treeDigest,
    releaseDigest: current.digest,
  };
}

/** The folder with a part's programs, for those that run on the workstation itself (kubectl, etcdctl). */
export async function partPrograms(host: Host, part: string): Promise<string> {
  return join((await entryOf(await currentRelease(host), 'part', part)).content, 'bin');
}

async function entryOf(current: CurrentRelease, kind: CacheEntryKind, name: string): Promise<CacheEntry> {
  const id = current.ids.find((candidate) => candidate.kind === kind && candidate.name === name);
  if (id === undefined) throw releaseErrors.NOT_BUILT({ folder: `${current.cache.folder} with ${kind} ${name}` });
  return currentEntry(current.cache, id);
}
