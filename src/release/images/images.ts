// The images of a release and their content. One Kubernetes image serves four components: its binary behaves by the
// name under which it is called. Images have no base image; an entrypoint is set even if pods state their own command.
import { type BuildMethod, goArchitecture, needEntry, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { type ImageConfig, type OciImage, writeImage, writeIndex } from './oci-image.ts';
import type { LayerContent, LayerItem } from './oci-layer.ts';

/** The host of every image name. The domain is reserved for private use, so no runtime asks the Internet for it. */
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
  { name: 'local-path-provisioner', part: 'local-path-provisioner', entrypoint: ['local-path-provisioner'] },
  { name: 'metrics-server', part: 'metrics-server', entrypoint: ['metrics-server'] },
  { name: 'registry', part: 'distribution', entrypoint: ['registry'] },
  { name: 'traefik', part: 'traefik', entrypoint: ['traefik'] },
];

/**
 * Programs of machines that no pod runs. A machine that changes to a release takes them from images, like all others.
 * The prepared image store does not have them.
 */
export const programImages: readonly PartImage[] = [
  'containerd',
  'containerd-shim',
  'cri-tools',
  'cni',
  'ignition',
  'ignition-validate',
].map((name) => ({ name, part: name, entrypoint: [] }));

const binFolder = 'usr/local/bin';

/** What every image has besides its program: a folder for temporary files, and the names of two users. */
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
  const method: BuildMethod = {
    label: 'layers of its part',
    inputs: async (builder) => ({
      format: '2',
      part: (await needEntry(builder, part)).manifest.treeDigest,
      image: JSON.stringify(image),
      tag: version,
      architecture: goArchitecture(builder),
    }),
    make: async (builder, { folder }) => {
      const layer = { ...skeleton, ...(await binaries(builder, await needEntry(builder, part))) };
      const config = imageConfig(builder, image);
      const name = `${imagePrefix}/${image.name}`;
      const written = await writeImage(builder.host.files, folder, {
        name,
        tag: `v${version}`,
        config,
        layers: [layer],
      });
      await writeIndex(builder.host.files, folder, [written]);
      return { image: written };
    },
  };
  return {
    kind: 'image',
    name: image.name,
    why: `Pods run ${image.name} from an image of its own, made of nothing but the part.`,
    estimateSeconds: 2,
    methods: [method],
  };
}

export function imageConfig(builder: ReleaseBuilder, image: Pick<PartImage, 'entrypoint' | 'command'>): ImageConfig {
  const { entrypoint, command } = image;
  return {
    architecture: goArchitecture(builder),
    entrypoint,
    ...(command === undefined ? {} : { command }),
    environment: imageEnvironment,
  };
}

/** The files and links of a part's `bin`, at their paths in the image. */
async function binaries(builder: ReleaseBuilder, part: CacheEntry): Promise<LayerContent> {
  const { files } = builder.host;
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
export function imageOfEntry(entry: CacheEntry): OciImage {
  return entry.manifest.facts['image'] as OciImage;
}
