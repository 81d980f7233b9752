// Images that render components in place of ours: from an OCI layout on the disk into the release, by digest and
// unchanged. The choice belongs to the release: `create cluster` keeps what `release build` was told last.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import { goArchitecture, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import type { EntryId } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { componentImageName, renderedComponents } from './image-variables.ts';
import { imagePrefix } from './images.ts';
import { blobFolder, type OciImage, writeIndex } from './oci-image.ts';
import { blobPath, findImage, openLayout, type SourceImage, UnusableImage } from './oci-source.ts';

export interface ComponentSource {
  readonly component: string;
  /** An OCI layout: a folder or a tar file. */
  readonly path: string;
}

export interface ComponentImage {
  readonly component: string;
  /** Of the image's manifest. */
  readonly digest: string;
  /** Where its blobs are; absent for one that is in the cache since an earlier build. */
  readonly source?: { readonly layout: string; readonly image: SourceImage };
}

/** Reads and checks what was named. `scratch`: for archives, until the build has ended. */
export async function readComponents(
  host: Host,
  sources: readonly ComponentSource[],
  scratch: string,
): Promise<readonly ComponentImage[]> {
  const found: ComponentImage[] = [];
  for (const { component, path } of sources) {
    if (!renderedComponents.includes(component))
      throw releaseErrors.UNKNOWN_NAME({ what: 'component', name: component, known: renderedComponents });
    if (found.some((each) => each.component === component))
      throw releaseErrors.COMPONENT({ component, path, reason: 'the component has an image already' });
    try {
      const layout = await openLayout(host.files, path, join(scratch, component));
      const image = await findImage(host.files, layout, goArchitecture({ host }));
      found.push({ component, digest: image.digest, source: { layout, image } });
    } catch (error) {
      if (!(error instanceof UnusableImage)) throw error;
      throw releaseErrors.COMPONENT({ component, path, reason: error.message }, { cause: error });
    }
  }
  return found;
}

/** The components of the entries of a release. */
export function componentsOf(ids: readonly EntryId[]): readonly ComponentImage[] {
  return ids.flatMap(({ kind, inputs: { component, digest } }) =>
    kind === 'image' && component !== undefined && digest !== undefined ? [{ component, digest }] : [],
  );
}

export function componentImageRecipe({ component, digest, source }: ComponentImage): Recipe {
  const name = componentImageName(component);
  return {
    kind: 'image',
    name,
    why: `The manifests of ${component} come with the version of this image, whose render makes them.`,
    estimateSeconds: 1,
    methods: [
      {
        label: 'the image that was given',
        inputs: async (builder) => ({ format: '1', component, digest, architecture: goArchitecture(builder) }),
        make: async (builder, { folder }) => {
          if (source === undefined) {
            const reason = 'it is no longer in the cache';
            throw releaseErrors.COMPONENT({ component, path: `sha256:${digest}`, reason });
          }
          const image = await copyImage(builder, { name: `${imagePrefix}/${name}`, folder, ...source });
          await writeIndex(builder.host.files, folder, [image]);
          return { image };
        },
      },
    ],
  };
}

interface Copied {
  readonly name: string;
  readonly folder: string;
  readonly layout: string;
  readonly image: SourceImage;
}

async function copyImage({ host }: ReleaseBuilder, { name, folder, layout, image }: Copied): Promise<OciImage> {
  const { files } = host;
  const { digest, manifestBytes, config, layers } = image;
  await files.makeFolder(join(folder, blobFolder));
  for (const blob of [{ digest: `sha256:${digest}` }, config, ...layers])
    await files.writeStream(blobPath(folder, blob), files.stream(blobPath(layout, blob)));
  const sizeBytes = [config, ...layers].reduce((sum, { size }) => sum + size, manifestBytes);
  const blobs = layers.map((layer) => ({ digest: layer.digest.replace('sha256:', ''), sizeBytes: layer.size }));
  // No version of ours: the same image stays the same entry.
  return { name, tag: `sha256-${digest.slice(0, 12)}`, digest, manifestBytes, sizeBytes, layers: blobs };
}
