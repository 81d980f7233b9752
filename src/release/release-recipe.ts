// The release itself: an OCI layout with every image and, as one more image, the release manifest and the bill of
// materials. The digest of that image's manifest is the digest of the release.
import { join } from 'node:path';
import type { Files } from '../host/files.ts';
import { digestOfRecord } from '../workflow/digest.ts';
import type { CacheEntry } from './cache/cache.ts';
import { imageOfEntry, imagePrefix } from './images/images.ts';
import { blobFolder, writeImage, writeIndex } from './images/oci-image.ts';
import { goArchitecture } from './parts/architecture.ts';
import { type ReleaseContent, releaseManifest } from './release-manifest.ts';
import { need, type Recipe, type Workshop } from './build/workshop.ts';

export interface ReleaseIngredients {
  readonly parts: readonly Recipe[];
  readonly images: readonly Recipe[];
  readonly debian?: Recipe;
}

export const manifestPath = 'release-manifests/release.json';
export const sbomPath = 'release-manifests/sbom.cdx.json';

export function releaseRecipe(ingredients: ReleaseIngredients): Recipe {
  return {
    kind: 'release',
    name: 'release',
    why: 'One digest that stands for everything a cluster is installed from.',
    estimateSeconds: 3,
    ways: [
      {
        label: 'parts and images',
        inputs: async (shop) => {
          const { parts, images, debian } = ingredients;
          const all = await needAll(shop, [...parts, ...images, ...(debian === undefined ? [] : [debian])]);
          const digests = all.map(({ manifest: m }) => [`${m.kind} ${m.name}`, m.treeDigest] as const);
          return { format: '1', version: shop.version, content: digestOfRecord(Object.fromEntries(digests)) };
        },
        make: async (shop, { folder, report }) => {
          const content = await gather(shop, ingredients);
          const manifest = releaseManifest(content);
          report('writing the bill of materials');
          const { billOfMaterials } = await import('./sbom.ts');
          const sbom = await billOfMaterials(shop, { manifest, content });
          for (const image of content.images) await linkBlobs(shop.host.files, image.content, folder);
          const files = {
            [manifestPath]: { kind: 'text', text: `${JSON.stringify(manifest, null, 2)}\n` },
            [sbomPath]: { kind: 'text', text: sbom },
          } as const;
          const release = await writeImage(shop.host.files, folder, {
            name: `${imagePrefix}/release`,
            tag: `v${shop.version}`,
            config: {
              architecture: goArchitecture(shop),
              entrypoint: [],
              command: [`/${manifestPath}`],
              labels: { 'org.opencontainers.image.version': shop.version },
            },
            layers: [files],
          });
          await writeIndex(shop.host.files, folder, [release, ...content.images.map(imageOfEntry)]);
          return { image: release, manifest };
        },
      },
    ],
  };
}

function needAll(shop: Workshop, recipes: readonly Recipe[]): Promise<readonly CacheEntry[]> {
  return Promise.all(recipes.map((recipe) => need(shop, recipe)));
}

async function gather(shop: Workshop, ingredients: ReleaseIngredients): Promise<ReleaseContent> {
  const listed = async (entry: CacheEntry) => ({ ...entry, listing: await shop.cache.listing(entry) });
  return {
    version: shop.version,
    architecture: goArchitecture(shop),
    parts: await Promise.all((await needAll(shop, ingredients.parts)).map(listed)),
    images: await needAll(shop, ingredients.images),
    ...(ingredients.debian === undefined ? {} : { debian: await need(shop, ingredients.debian) }),
  };
}

/** Blobs are named by their digest and never change, so the release shares them with the images it lists. */
async function linkBlobs(files: Files, from: string, to: string): Promise<void> {
  await files.makeFolder(join(to, blobFolder));
  for (const name of (await files.list(join(from, blobFolder))) ?? []) {
    const target = join(to, blobFolder, name);
    if ((await files.facts(target)) === undefined) await files.hardLink(join(from, blobFolder, name), target);
  }
}
