// release-image-pivot: a bootstrap machine that booted another release than its config names changes to the named one.
// Everything is named by digest from the config downwards: release image → release.json → images and programs. The
// record of which release the machine runs is written last, so a run that was cut off begins again and finds its work.
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  digestOfReference,
  readBootkubeEnvironment,
  readReleaseLayout,
  releaseImageVariable,
} from '../../contract/bootkube-environment.ts';
import {
  machineStateFolder,
  programs,
  releaseFile,
  releaseImageFile,
  releaseKeyFile,
  releaseSignatureFolder,
} from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { unitsAfterPivot } from '../../machine-software/bootstrap-units.ts';
import { goArchitecture } from '../../release/build/builder.ts';
import { programImages } from '../../release/images/images.ts';
import { type ReleaseManifest, releaseManifestSchema } from '../../release/release-manifest.ts';
import { manifestPath } from '../../release/release-recipe.ts';
import { releasePivotErrors } from '../errors.ts';
import { decidePivot } from './decide-pivot.ts';
import { type ImageStore, openImageStore } from './image-store.ts';
import { installPrograms } from './install-programs.ts';
import { layoutSource, type NamedImage, type ReleaseSource, registrySource } from './release-source.ts';

export interface PivotOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export interface PivotOutcome {
  readonly release: string | undefined;
  readonly isNew: boolean;
  readonly said: string;
}

const folder = join(machineStateFolder, 'release-image-pivot');
const startMs = 120_000;

export async function pivotRelease(host: Host, options: PivotOptions): Promise<PivotOutcome> {
  const variables = await readBootkubeEnvironment(host);
  const decision = decidePivot({ named: variables[releaseImageVariable], booted: await bootedRelease(host) });
  if (decision.kind === 'stay') {
    return { release: variables[releaseImageVariable], isNew: false, said: decision.because };
  }
  if (decision.kind === 'refuse') throw releasePivotErrors.NOT_BY_DIGEST({ image: decision.image });
  const { image, digest } = decision;
  await systemctl(host, ['start', unitNames.containerd]);
  await host.files.makeFolder(folder, { mode: 0o700 });
  const store = openImageStore(host, { mountFolder: join(folder, 'image'), signal: options.signal });
  const input = { host, store, scratch: folder };
  const layout = await readReleaseLayout(host);
  const source = layout === undefined ? registrySource(input, image) : layoutSource(input, layout);
  options.log(`this machine booted another release than its config names; ${digest} comes from ${source.description}`);
  const release = await takeRelease(host, { source, store, image, digest, layout });
  const { log } = options;
  const count = await bringMissing({ source, store, log }, imagesOf(release));
  const replaced = await installPrograms({
    files: host.files,
    store,
    release,
    log,
    bring: async (part) => void (await bringMissing({ source, store, log }, [namedImage(part)])),
  });
  await host.processes.run('sync', ['--file-system', dirname(releaseFile)], { timeoutMs: startMs });
  await host.files.remove(folder);
  await restart(host);
  await host.files.write(releaseFile, `${JSON.stringify(release, null, 2)}\n`);
  await host.files.write(releaseImageFile, `${JSON.stringify({ reference: image, digest }, null, 2)}\n`);
  const said = `the machine goes on with release ${release.version}, ${digest}: ${count} images, programs of ${replaced.join(', ') || 'no part'}`;
  return { release: image, isNew: true, said };
}

async function bootedRelease({ files }: Host): Promise<string | undefined> {
  const about = z.object({ reference: z.string() });
  return about.safeParse(jsonIfValid((await files.readIfPresent(releaseImageFile)) ?? '')).data?.reference;
}

interface TakeRelease {
  readonly source: ReleaseSource;
  readonly store: ImageStore;
  readonly image: string;
  readonly digest: string;
  readonly layout: string | undefined;
}

async function takeRelease(
  host: Host,
  { source, store, image, digest, layout }: TakeRelease,
): Promise<ReleaseManifest> {
  if (!(await store.names()).has(image)) await source.bring({ name: 'release', digest, names: [image] });
  await checkSignature(host, { store, digest, layout });
  const text = await store.withFiles(image, (root) => host.files.readIfPresent(join(root, manifestPath)));
  const read = releaseManifestSchema.safeParse(jsonIfValid(text ?? ''));
  if (!read.success) {
    const reason = text === undefined ? 'it is no release image' : z.prettifyError(read.error);
    throw releasePivotErrors.NOT_VERIFIED({ what: image, reason });
  }
  const here = goArchitecture({ host });
  if (read.data.architecture !== here) {
    throw releasePivotErrors.NOT_VERIFIED({
      what: image,
      reason: `it is for ${read.data.architecture}, this machine is ${here}`,
    });
  }
  return read.data;
}

/** A machine that was given a key takes only what the key signed. Without one it trusts the digest in its config. */
async function checkSignature(
  host: Host,
  { store, digest, layout }: Pick<TakeRelease, 'store' | 'digest' | 'layout'>,
): Promise<void> {
  if ((await host.files.facts(releaseKeyFile)) === undefined) return;
  const { signaturePath, verifySignature } = await import('../../release/release-signature.ts');
  const paths = [releaseSignatureFolder, ...(layout === undefined ? [] : [layout])].map((each) =>
    signaturePath(each, digest.replace('sha256:', '')),
  );
  const found = await Promise.all(paths.map((path) => host.files.readIfPresent(path).catch(() => undefined)));
  const signature = found.find((content) => content !== undefined);
  if (signature === undefined) {
    throw releasePivotErrors.NOT_VERIFIED({ what: digest, reason: `no signature of it is at ${paths.join(' or ')}` });
  }
  await verifySignature(host, { manifest: await store.blob(digest), digest, signature, keyPath: releaseKeyFile });
}

type ReleaseImage = ReleaseManifest['images'][number];

function namedImage({ name, digest, reference, tag }: ReleaseImage): NamedImage {
  return { name, digest: `sha256:${digest}`, names: [reference, tag] };
}

/** Those that pods run. Images that only carry programs of the machine come when a program of them is missing. */
function imagesOf({ images }: ReleaseManifest): readonly NamedImage[] {
  return images.filter(({ name }) => !programImages.some((image) => image.name === name)).map(namedImage);
}

interface Bringing {
  readonly source: ReleaseSource;
  readonly store: ImageStore;
  readonly log: (line: string) => void;
}

/** How many were not there. A tag does not count: it may be that of an image of another release. */
async function bringMissing({ source, store, log }: Bringing, images: readonly NamedImage[]): Promise<number> {
  const present = await store.names();
  const missing = images.filter(({ names }) =>
    names.some((name) => digestOfReference(name) !== undefined && !present.has(name)),
  );
  for (const image of missing) {
    log(`image ${image.names[0]}`);
    await source.bring(image);
  }
  return missing.length;
}

/**
 * What runs already, from a program that may have been replaced. Whatever is ordered after this unit starts when it has
 * ended; it runs already only where an earlier attempt failed, and is then started anew after this one.
 */
async function restart(host: Host): Promise<void> {
  await systemctl(host, ['restart', unitNames.containerd]);
  await systemctl(host, ['--no-block', 'try-restart', ...unitsAfterPivot]);
}

async function systemctl(host: Host, args: readonly string[]): Promise<void> {
  const { code, stderr } = await host.processes.run(programs.systemctl, args, { timeoutMs: startMs });
  if (code !== 0) throw releasePivotErrors.UNAVAILABLE({ what: `systemctl ${args.join(' ')}`, reason: stderr.trim() });
}
