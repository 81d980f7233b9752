// The images of Node and of Firstlight. The Node image has the runtime and its libraries from the machines' Debian; the
// Firstlight image adds our bundle as one small layer, so that a new version is a small difference.
import { join } from 'node:path';
import { firstlightFolder } from '../../contract/machine-paths.ts';
import { libraryPlace, programLibraries } from '../../contract/program-libraries.ts';
import { needEntry, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { firstlightPart, nodePart } from '../parts/own-parts.ts';
import { imageConfig, imageOfEntry, imagePrefix, skeleton } from './images.ts';
import { writeImage, writeIndex } from './oci-image.ts';
import type { LayerContent, LayerItem } from './oci-layer.ts';

/** Relative to a root; the bundle is one folder below, as in a checkout. */
export const firstlightPlace = firstlightFolder.slice(1);

/** The runtime alone, which stays the same when Firstlight changes; the base of our image. */
export function nodeImage(debian: Recipe): Recipe {
  return {
    kind: 'image',
    name: 'node',
    why: 'The runtime and its libraries, which change rarely, apart from our program, which changes often.',
    estimateSeconds: 2,
    methods: [
      {
        label: 'Node and its libraries',
        inputs: async (builder) => ({
          format: '1',
          node: (await needEntry(builder, nodePart)).manifest.treeDigest,
          debian: (await needEntry(builder, debian)).manifest.treeDigest,
          tag: versionOf(await needEntry(builder, nodePart)),
        }),
        make: async (builder, { folder }) => {
          const written = await writeImage(builder.host.files, folder, {
            name: `${imagePrefix}/node`,
            tag: `v${versionOf(await needEntry(builder, nodePart))}`,
            config: imageConfig(builder, { entrypoint: [nodeProgram], command: ['--version'] }),
            layers: [await runtimeLayer(builder, debian)],
          });
          await writeIndex(builder.host.files, folder, [written]);
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
    methods: [
      {
        label: 'the Node image and the bundle',
        inputs: async (builder) => ({
          format: '2',
          bundle: (await needEntry(builder, firstlightPart)).manifest.treeDigest,
          node: imageOfEntry(await needEntry(builder, node)).digest,
          tag: builder.version,
        }),
        make: async (builder, { folder }) => {
          const base = await needEntry(builder, node);
          const written = await writeImage(builder.host.files, folder, {
            name: `${imagePrefix}/firstlight`,
            tag: `v${builder.version}`,
            config: imageConfig(builder, {
              entrypoint: [nodeProgram, `/${firstlightPlace}/dist/firstlight.mjs`],
              command: ['version'],
            }),
            base: { from: base.content, layers: imageOfEntry(base).layers },
            layers: [await bundleLayer(builder)],
          });
          await writeIndex(builder.host.files, folder, [written]);
          return { image: written };
        },
      },
    ],
  };
}

const nodeProgram = `/${firstlightPlace}/bin/node`;

function versionOf(part: CacheEntry): string {
  return String(part.manifest.facts['version']);
}

async function runtimeLayer(builder: ReleaseBuilder, debian: Recipe): Promise<LayerContent> {
  const { files } = builder.host;
  const root = (await needEntry(builder, debian)).content;
  const node = (await needEntry(builder, nodePart)).content;
  const { folder, loader, loaderFolder } = libraryPlace(builder.host.environment.architecture);
  const content: Record<string, LayerItem> = {
    ...skeleton,
    [`${firstlightPlace}/bin/node`]: { kind: 'file', from: join(node, 'bin/node') },
    'etc/ssl/certs/ca-certificates.crt': {
      kind: 'file',
      from: join(root, 'etc/ssl/certs/ca-certificates.crt'),
      mode: 0o644,
    },
    // As on a Debian with a merged /usr.
    lib: { kind: 'link', target: 'usr/lib' },
    lib64: { kind: 'link', target: 'usr/lib64' },
    [`${loaderFolder.slice(1)}/${loader}`]: { kind: 'link', target: `${folder}/${loader}` },
  };
  for (const name of [...programLibraries, loader]) {
    // Libraries are links to files with the full version; the file gets the name that programs ask for.
    const from = await files.realPath(join(root, folder, name));
    content[`${folder.slice(1)}/${name}`] = { kind: 'file', from };
  }
  return content;
}

async function bundleLayer(builder: ReleaseBuilder): Promise<LayerContent> {
  const lib = join((await needEntry(builder, firstlightPart)).content, 'lib');
  const content: Record<string, LayerItem> = {};
  const visit = async (path: string): Promise<void> => {
    for (const name of (await builder.host.files.list(join(lib, path))) ?? []) {
      const inner = path === '' ? name : `${path}/${name}`;
      const isFolder = (await builder.host.files.facts(join(lib, inner)))?.kind === 'folder';
      if (isFolder) await visit(inner);
      else content[`${firstlightPlace}/dist/${inner}`] = { kind: 'file', from: join(lib, inner), mode: 0o644 };
    }
  };
  await visit('');
  return content;
}
