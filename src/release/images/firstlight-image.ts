// Firstlight as an image: the Node runtime with the few libraries it links against, taken from the machines' Debian, is
// an image of its own; our bundle is one small layer on top, so that a new Firstlight is a small difference.
import { join } from 'node:path';
import { firstlightPart, nodePart } from '../parts/own-parts.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { imageConfig, imageOfEntry, imagePrefix, skeleton } from './images.ts';
import type { LayerContent, LayerItem } from './oci-layer.ts';
import { writeImage, writeIndex } from './oci-image.ts';
import { goArchitecture } from '../parts/architecture.ts';
import { need, type Recipe, type Workshop } from '../build/workshop.ts';

/** Where machines and images have us; the bundle lies one folder below, as in a checkout. */
export const firstlightFolder = 'usr/local/lib/firstlight';

/** The library folder below usr/, the loader in it, and where programs look for the loader. */
const libraryPlaces: Readonly<Record<string, readonly [folder: string, loader: string, place: string]>> = {
  amd64: ['lib/x86_64-linux-gnu', 'ld-linux-x86-64.so.2', 'lib64'],
  arm64: ['lib/aarch64-linux-gnu', 'ld-linux-aarch64.so.1', 'lib'],
};
/** What `readelf -d node` lists; a missing one would stop the image at its first start. */
const libraries = [
  'libatomic.so.1',
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libstdc++.so.6',
];

/** The runtime alone; what our image builds on, and what stays the same from one Firstlight to the next. */
export function nodeImage(debian: Recipe): Recipe {
  return {
    kind: 'image',
    name: 'node',
    why: 'The runtime and its libraries, which change rarely, apart from our program, which changes often.',
    estimateSeconds: 2,
    ways: [
      {
        label: 'Node and its libraries',
        inputs: async (shop) => ({
          format: '1',
          node: (await need(shop, nodePart)).manifest.treeDigest,
          debian: (await need(shop, debian)).manifest.treeDigest,
          tag: versionOf(await need(shop, nodePart)),
        }),
        make: async (shop, { folder }) => {
          const written = await writeImage(shop.host.files, folder, {
            name: `${imagePrefix}/node`,
            tag: `v${versionOf(await need(shop, nodePart))}`,
            config: imageConfig(shop, { entrypoint: [nodeProgram], command: ['--version'] }),
            layers: [await runtimeLayer(shop, debian)],
          });
          await writeIndex(shop.host.files, folder, [written]);
          return { image: written };
        },
      },
    ],
  };
}

export function firstlightImage(node: Recipe): Recipe {
  return {
    kind: 'image',
    name: 'firstlight',
    why: 'Pods that are ours (config server, version operator) run the same program as the machines.',
    estimateSeconds: 1,
    ways: [
      {
        label: 'the Node image and the bundle',
        inputs: async (shop) => ({
          format: '2',
          bundle: (await need(shop, firstlightPart)).manifest.treeDigest,
          node: imageOfEntry(await need(shop, node)).digest,
          tag: shop.version,
        }),
        make: async (shop, { folder }) => {
          const base = await need(shop, node);
          const written = await writeImage(shop.host.files, folder, {
            name: `${imagePrefix}/firstlight`,
            tag: `v${shop.version}`,
            config: imageConfig(shop, {
              entrypoint: [nodeProgram, `/${firstlightFolder}/dist/firstlight.mjs`],
              command: ['version'],
            }),
            base: { from: base.content, layers: imageOfEntry(base).layers },
            layers: [await bundleLayer(shop)],
          });
          await writeIndex(shop.host.files, folder, [written]);
          return { image: written };
        },
      },
    ],
  };
}

const nodeProgram = `/${firstlightFolder}/bin/node`;

function versionOf(part: CacheEntry): string {
  return String(part.manifest.facts['version']);
}

async function runtimeLayer(shop: Workshop, debian: Recipe): Promise<LayerContent> {
  const { files } = shop.host;
  const root = (await need(shop, debian)).content;
  const node = (await need(shop, nodePart)).content;
  const [folder, loader, place] = libraryPlaces[goArchitecture(shop)] ?? ['lib', 'ld.so', 'lib'];
  const content: Record<string, LayerItem> = {
    ...skeleton,
    [`${firstlightFolder}/bin/node`]: { kind: 'file', from: join(node, 'bin/node') },
    'etc/ssl/certs/ca-certificates.crt': {
      kind: 'file',
      from: join(root, 'etc/ssl/certs/ca-certificates.crt'),
      mode: 0o644,
    },
    // As on a Debian with a merged /usr.
    lib: { kind: 'link', target: 'usr/lib' },
    lib64: { kind: 'link', target: 'usr/lib64' },
    [`usr/${place}/${loader}`]: { kind: 'link', target: `/usr/${folder}/${loader}` },
  };
  for (const name of [...libraries, loader]) {
    // Libraries are links to their full version; the file goes in under the name that programs ask for.
    const from = await files.realPath(join(root, 'usr', folder, name));
    content[`usr/${folder}/${name}`] = { kind: 'file', from };
  }
  return content;
}

async function bundleLayer(shop: Workshop): Promise<LayerContent> {
  const lib = join((await need(shop, firstlightPart)).content, 'lib');
  const content: Record<string, LayerItem> = {};
  const visit = async (path: string): Promise<void> => {
    for (const name of (await shop.host.files.list(join(lib, path))) ?? []) {
      const inner = path === '' ? name : `${path}/${name}`;
      const isFolder = (await shop.host.files.facts(join(lib, inner)))?.kind === 'folder';
      if (isFolder) await visit(inner);
      else content[`${firstlightFolder}/dist/${inner}`] = { kind: 'file', from: join(lib, inner), mode: 0o644 };
    }
  };
  await visit('');
  return content;
}
