// The images of a release and what is in them. One Kubernetes image serves four components: the binary looks at the
// name it is called by. All start from nothing; an entrypoint is set even where pods name their own command.
import type { CacheEntry } from '../cache/cache.ts';
import type { LayerContent, LayerItem } from './oci-layer.ts';
import { type Image, type ImageConfig, writeImage, writeIndex } from './oci-image.ts';
import { goArchitecture } from '../parts/architecture.ts';
import { need, type Recipe, type Way, type Workshop } from '../build/workshop.ts';

/** The host part of every image name: reserved for private use, so that no runtime ever asks the world for it. */
export const imagePrefix = 'release.firstlight.internal';

export interface PartImage {
  readonly name: string;
  readonly part: string;
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[];
}

export const partImages: readonly PartImage[] = [
  { name: 'kubernetes', part: 'kubernetes', entrypoint: [], command: ['kubectl', 'version', '--client'] },
  { name: 'etcd', part: 'etcd', entrypoint: ['etcd'] },
  { name: 'coredns', part: 'coredns', entrypoint: ['coredns'] },
  { name: 'pause', part: 'pause', entrypoint: ['/usr/local/bin/pause'] },
];

const binFolder = 'usr/local/bin';

/** What every image has besides its program: a place for temporary files, and names for the two users. */
export const skeleton: LayerContent = {
  tmp: { kind: 'folder', mode: 0o1777 },
  'etc/passwd': {
    kind: 'text',
    text: 'root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n',
  },
  'etc/group': { kind: 'text', text: 'root:x:0:\nnobody:x:65534:\n' },
};

const imageEnvironment = { PATH: `/${binFolder}:/usr/bin:/bin`, HOME: '/' };

export function imageRecipe(image: PartImage, part: Recipe, version: string): Recipe {
  const way: Way = {
    label: 'layers of its part',
    inputs: async (shop) => ({
      format: '2',
      part: (await need(shop, part)).manifest.treeDigest,
      image: JSON.stringify(image),
      tag: version,
      architecture: goArchitecture(shop),
    }),
    make: async (shop, { folder }) => {
      const layer = { ...skeleton, ...(await binaries(shop, await need(shop, part))) };
      const config = imageConfig(shop, image);
      const name = `${imagePrefix}/${image.name}`;
      const written = await writeImage(shop.host.files, folder, { name, tag: `v${version}`, config, layers: [layer] });
      await writeIndex(shop.host.files, folder, [written]);
      return { image: written };
    },
  };
  return {
    kind: 'image',
    name: image.name,
    why: `Pods run ${image.name} from an image of its own, made of nothing but the part.`,
    estimateSeconds: 2,
    ways: [way],
  };
}

export function imageConfig(shop: Workshop, image: Pick<PartImage, 'entrypoint' | 'command'>): ImageConfig {
  const { entrypoint, command } = image;
  return {
    architecture: goArchitecture(shop),
    entrypoint,
    ...(command === undefined ? {} : { command }),
    environment: imageEnvironment,
  };
}

/** The files and links of a part's `bin`, as they lie in the image. */
async function binaries(shop: Workshop, part: CacheEntry): Promise<LayerContent> {
  const { files } = shop.host;
  const content: Record<string, LayerItem> = {};
  for (const name of (await files.list(`${part.content}/bin`)) ?? []) {
    const from = `${part.content}/bin/${name}`;
    const isLink = (await files.facts(from))?.kind === 'link';
    content[`${binFolder}/${name}`] = isLink
      ? { kind: 'link', target: await files.readLink(from) }
      : { kind: 'file', from, mode: 0o755 };
  }
  return content;
}

/** The image that an image entry holds. */
export function imageOfEntry(entry: CacheEntry): Image {
  return entry.manifest.facts['image'] as Image;
}
