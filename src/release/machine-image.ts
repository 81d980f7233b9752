// What platforms need from the current release to make machines, and where its programs are for commands that run here.
import { join } from 'node:path';
import { type BootkubeEnvironment, releaseImageVariable } from '../contract/bootkube-environment.ts';
import type { MachineImage } from '../contract/machine-image.ts';
import type { Host } from '../host/host.ts';
import type { CacheEntry, CacheEntryKind } from './cache/cache.ts';
import { type CurrentRelease, currentEntry, currentRelease } from './current.ts';
import { releaseErrors } from './errors.ts';
import { imageOfEntry } from './images/images.ts';
import { blobFolder, referenceByDigest } from './images/oci-image.ts';
import { seedLayers } from './machine/containerd-seed.ts';
import { releaseManifestSchema } from './release-manifest.ts';

/** The image of the release that was built last. */
export async function machineImage(host: Host): Promise<MachineImage> {
  const current = await currentRelease(host);
  return machineImageOf([
    await entryOf(current, 'root', 'machine'),
    await entryOf(current, 'seed', 'containerd'),
    await entryOf(current, 'part', 'coredns'),
  ]);
}

/** The image of a release by its own entries: another build may have become the current one meanwhile. */
export function machineImageOf(entries: readonly CacheEntry[]): MachineImage {
  const root = entryNamed(entries, 'root', 'machine');
  return {
    rootFolder: root.content,
    containerdSeed: entryNamed(entries, 'seed', 'containerd').content,
    seedLayers,
    coredns: join(entryNamed(entries, 'part', 'coredns').content, 'bin/coredns'),
    digest: root.manifest.treeDigest,
  };
}

/** What the config of a bootstrap machine says about the release: its image and one per component. */
export function bootkubeEnvironmentOf(entries: readonly CacheEntry[]): BootkubeEnvironment {
  const release = entryNamed(entries, 'release', 'release');
  const { imageVariables } = releaseManifestSchema.parse(release.manifest.facts['manifest']);
  const images = Object.entries(imageVariables).map(([name, { reference }]) => [name, reference] as const);
  return { [releaseImageVariable]: referenceByDigest(imageOfEntry(release)), ...Object.fromEntries(images) };
}

function entryNamed(entries: readonly CacheEntry[], kind: CacheEntryKind, name: string): CacheEntry {
  const found = entries.find(({ manifest }) => manifest.kind === kind && manifest.name === name);
  if (found === undefined) throw new Error(`the release has no ${kind} ${name}`);
  return found;
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
