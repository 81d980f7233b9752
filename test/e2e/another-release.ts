// A second release, made of the current one in a moment: the same images but ours, whose program has one comment more,
// and a release image that says so. An OCI layout with these two: every machine has the others already.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstlightFolder } from '../../src/contract/machine-paths.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { currentRelease } from '../../src/release/current.ts';
import {
  blobFolder,
  type ImageConfig,
  type OciImage,
  writeImage,
  writeIndex,
} from '../../src/release/images/oci-image.ts';
import type { ReleaseManifest } from '../../src/release/release-manifest.ts';
import { manifestPath } from '../../src/release/release-recipe.ts';

export interface AnotherRelease {
  /** The OCI layout. */
  readonly layout: string;
  /** By digest. */
  readonly reference: string;
  readonly version: string;
  readonly manifest: ReleaseManifest;
  /** SHA-256 of the program's first file. */
  readonly programDigest: string;
}

interface Blob {
  readonly digest: string;
  readonly size: number;
}

const version = '9.9.9-another';
const entry = 'firstlight.mjs';

export async function makeAnotherRelease(layout: string): Promise<AnotherRelease> {
  const host = realHost();
  const { release, manifest, cache, ids } = await currentRelease(host);
  const hexOf = ({ digest }: Pick<Blob, 'digest'>): string => digest.replace('sha256:', '');
  const imageNamed = (name: string): ReleaseManifest['images'][number] => {
    const found = manifest.images.find((image) => image.name === name);
    if (found === undefined) throw new Error(`the release has no image ${name}`);
    return found;
  };
  const part = ids.find(({ kind, name }) => kind === 'part' && name === 'firstlight');
  const seen = part === undefined ? undefined : await cache.look(part);
  if (seen?.status !== 'present') throw new Error('the release has no part firstlight');
  const program = `${readFileSync(join(seen.entry.content, 'lib', entry), 'utf8')}\n// ${version}\n`;
  const programDigest = createHash('sha256').update(program).digest('hex');

  const old = imageNamed('firstlight');
  const { layers } = JSON.parse(readFileSync(join(release.content, blobFolder, old.digest), 'utf8')) as {
    readonly layers: readonly Blob[];
  };
  const config: ImageConfig = { architecture: manifest.architecture, entrypoint: [] };
  const own = await writeImage(host.files, layout, {
    name: old.reference.split('@')[0] ?? '',
    tag: `v${version}`,
    config,
    base: { from: release.content, layers: layers.map((layer) => ({ digest: hexOf(layer), sizeBytes: layer.size })) },
    layers: [{ [`${firstlightFolder.slice(1)}/dist/${entry}`]: { kind: 'text', text: program } }],
  });
  const another = rewritten(manifest, { own, programDigest });
  const text = `${JSON.stringify(another, null, 2)}\n`;
  const released = await writeImage(host.files, layout, {
    name: 'release.firstlight.internal/release',
    tag: `v${version}`,
    config,
    layers: [{ [manifestPath]: { kind: 'text', text } }],
  });
  await writeIndex(host.files, layout, [released, own]);
  const reference = `${released.name}@sha256:${released.digest}`;
  return { layout, reference, version, manifest: another, programDigest };
}

function rewritten(
  manifest: ReleaseManifest,
  { own, programDigest }: { readonly own: OciImage; readonly programDigest: string },
): ReleaseManifest {
  const image = { digest: own.digest, reference: `${own.name}@sha256:${own.digest}`, tag: `${own.name}:${own.tag}` };
  return {
    ...manifest,
    version,
    parts: manifest.parts.map((part) => {
      if (part.name !== 'firstlight') return part;
      const files = part.files.map((file) =>
        file.path === `lib/${entry}` ? { ...file, sha256: programDigest } : file,
      );
      return { ...part, version, digest: programDigest, files };
    }),
    images: manifest.images.map((each) => (each.name === 'firstlight' ? { ...each, ...image } : each)),
    imageVariables: Object.fromEntries(
      Object.entries(manifest.imageVariables).map(([name, variable]) => [
        name,
        variable.image === 'firstlight' ? { ...variable, reference: image.reference } : variable,
      ]),
    ),
  };
}
