// The containerd folder that a machine begins with: the seed of the release, in which blobs and unpacked layers are
// links to the place where the machine sees them read-only, and all other files are copies. So no file that a machine
// can write is shared, and 760 MB of images cost a machine a few small files. When containerd removes an image, it
// removes links; what it pulls or unpacks anew is the machine's own.
import { join } from 'node:path';
import type { MachineImage } from '../../contract/machine-image.ts';
import { imageLayersFolder } from '../../contract/machine-paths.ts';
import type { Files } from '../../host/files.ts';

export async function fillContainerdFolder(files: Files, image: MachineImage, folder: string): Promise<void> {
  const { containerdSeed, seedLayers = [] } = image;
  if (containerdSeed === undefined) return;
  await fill(files, { seed: containerdSeed, folder, layers: seedLayers.map((place) => place.split('/')) }, []);
}

interface Filling {
  readonly seed: string;
  readonly folder: string;
  /** By the names on the way to it. */
  readonly layers: readonly (readonly string[])[];
}

async function fill(files: Files, filling: Filling, place: readonly string[]): Promise<void> {
  for (const name of (await files.list(join(filling.seed, ...place))) ?? [])
    await fillOne(files, filling, [...place, name]);
}

async function fillOne(files: Files, filling: Filling, place: readonly string[]): Promise<void> {
  const from = join(filling.seed, ...place);
  const to = join(filling.folder, ...place);
  if (filling.layers.some((layer) => isAt(layer, place))) {
    return files.symlink(join(imageLayersFolder, ...place), to);
  }
  const facts = await files.facts(from);
  if (facts?.kind === 'folder') {
    await files.makeFolder(to, { mode: facts.mode });
    await fill(files, filling, place);
  } else if (facts !== undefined) {
    await files.write(to, await files.read(from), { mode: facts.mode, isDurable: false });
  }
}

function isAt(layer: readonly string[], place: readonly string[]): boolean {
  return layer.length === place.length && layer.every((name, index) => name === '*' || name === place[index]);
}
