// What platforms need from the current release to make machines, and where its programs are for commands that run here.
import { join } from 'node:path';
import type { MachineImage } from '../contract/machine-image.ts';
import type { Host } from '../host/host.ts';
import type { CacheEntry, CacheEntryKind } from './cache/cache.ts';
import { type CurrentRelease, currentEntry, currentRelease } from './current.ts';
import { releaseErrors } from './errors.ts';
import { imageOfEntry } from './images/images.ts';
import { blobFolder } from './images/oci-image.ts';
import { seedLayers } from './machine/containerd-seed.ts';

export async function machineImage(host: Host): Promise<MachineImage> {
  const current = await currentRelease(host);
  const [root, seed] = [await entryOf(current, 'root', 'machine'), await entryOf(current, 'seed', 'containerd')];
  return {
    rootFolder: root.content,
    containerdSeed: seed.content,
    seedLayers,
    coredns: join((await entryOf(current, 'part', 'coredns')).content, 'bin/coredns'),
    digest: root.manifest.treeDigest,
  };
}

/** The folder with the programs of a part that runs on the workstation (kubectl, etcdctl). */
export async function partPrograms(host: Host, part: string): Promise<string> {
  return join((await entryOf(await currentRelease(host), 'part', part)).content, 'bin');
}

export interface ProgramImage {
  /** By digest. */
  readonly reference: string;
  /** Tar files, the lowest first. */
  readonly layers: readonly string[];
}

/** The image with this program, its runtime and its libraries. */
export async function programImage(host: Host): Promise<ProgramImage> {
  const entry = await entryOf(await currentRelease(host), 'image', 'firstlight');
  const { name, digest, layers } = imageOfEntry(entry);
  return {
    reference: `${name}@sha256:${digest}`,
    layers: layers.map((layer) => join(entry.content, blobFolder, layer.digest)),
  };
}

async function entryOf(current: CurrentRelease, kind: CacheEntryKind, name: string): Promise<CacheEntry> {
  const id = current.ids.find((candidate) => candidate.kind === kind && candidate.name === name);
  if (id === undefined) throw releaseErrors.NOT_BUILT({ folder: `${current.cache.folder} with ${kind} ${name}` });
  return currentEntry(current.cache, id);
}
