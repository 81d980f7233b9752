// The release itself: an OCI layout with every image and, as one more image, the release manifest, the bill of
// materials and the payload: what it brings into a cluster. The digest of that image's manifest is the digest of the
// release.
import { join } from 'node:path';
import { payloadFiles, releaseFiles } from '../contract/cluster-version.ts';
import type { Files } from '../host/files.ts';
import { payloadTexts } from '../operators/payload-files.ts';
import { digestOfRecord } from '../workflow/digest.ts';
import { goArchitecture, needEntry, type Recipe, type ReleaseBuilder } from './build/builder.ts';
import type { CacheEntry } from './cache/cache.ts';
import { imageOfEntry, imagePrefix } from './images/images.ts';
import { blobFolder, writeImage, writeIndex } from './images/oci-image.ts';
import type { LayerContent } from './images/oci-layer.ts';
import { payloadOf, type ReleaseContent, releaseManifest } from './release-manifest.ts';

export interface ReleaseIngredients {
  readonly parts: readonly Recipe[];
  readonly images: readonly Recipe[];
  readonly debian?: Recipe;
}

export const manifestPath = `${payloadFiles.folder}/${releaseFiles.manifest}`;
export const sbomPath = `${payloadFiles.folder}/${releaseFiles.billOfMaterials}`;

export function releaseRecipe(ingredients: ReleaseIngredients): Recipe {
  return {
    kind: 'release',
    name: 'release',
    why: 'One digest that stands for everything a cluster is installed from.',
    estimateSeconds: 3,
    methods: [
      {
        label: 'parts and images',
        inputs: async (builder) => {
          const { parts, images, debian } = ingredients;
          const all = await needAll(builder, [...parts, ...images, ...(debian === undefined ? [] : [debian])]);
          const digests = all.map(({ manifest: m }) => [`${m.kind} ${m.name}`, m.treeDigest] as const);
          return {
            format: '2',
            version: builder.version,
            content: digestOfRecord(Object.fromEntries(digests)),
            payload: digestOfRecord(await payload(builder, images)),
          };
        },
        make: async (builder, { folder, report }) => {
          const content = await gather(builder, ingredients);
          const manifest = releaseManifest(content);
          report('writing the bill of materials');
          const { billOfMaterials } = await import('./sbom.ts');
          const sbom = await billOfMaterials(builder, { manifest, content });
          for (const image of content.images) await linkBlobs(builder.host.files, image.content, folder);
          const texts = Object.entries(await payload(builder, ingredients.images));
          const files: LayerContent = {
            ...Object.fromEntries(texts.map(([path, text]) => [path, { kind: 'text', text }] as const)),
            [manifestPath]: { kind: 'text', text: `${JSON.stringify(manifest, null, 2)}\n` },
            [sbomPath]: { kind: 'text', text: sbom },
          };
          const release = await writeImage(builder.host.files, folder, {
            name: `${imagePrefix}/release`,
            tag: `v${builder.version}`,
            config: {
              architecture: goArchitecture(builder),
              entrypoint: [],
              command: [`/${manifestPath}`],
              labels: { 'org.opencontainers.image.version': builder.version },
            },
            layers: [files],
          });
          await writeIndex(builder.host.files, folder, [release, ...content.images.map(imageOfEntry)]);
          return { image: release, manifest };
        },
      },
    ],
  };
}

async function payload(builder: ReleaseBuilder, images: readonly Recipe[]): Promise<Readonly<Record<string, string>>> {
  return payloadTexts(payloadOf(builder.version, await needAll(builder, images)));
}

function needAll(builder: ReleaseBuilder, recipes: readonly Recipe[]): Promise<readonly CacheEntry[]> {
  return Promise.all(recipes.map((recipe) => needEntry(builder, recipe)));
}

async function gather(builder: ReleaseBuilder, ingredients: ReleaseIngredients): Promise<ReleaseContent> {
  const listed = async (entry: CacheEntry) => ({ ...entry, listing: await builder.cache.listing(entry) });
  return {
    version: builder.version,
    architecture: goArchitecture(builder),
    parts: await Promise.all((await needAll(builder, ingredients.parts)).map(listed)),
    images: await needAll(builder, ingredients.images),
    ...(ingredients.debian === undefined ? {} : { debian: await needEntry(builder, ingredients.debian) }),
  };
}

/** A blob never changes, so the release shares the blobs of its images by hard links. */
async function linkBlobs(files: Files, from: string, to: string): Promise<void> {
  await files.makeFolder(join(to, blobFolder));
  for (const name of (await files.list(join(from, blobFolder))) ?? []) {
    const target = join(to, blobFolder, name);
    if ((await files.facts(target)) === undefined) await files.hardLink(join(from, blobFolder, name), target);
  }
}
