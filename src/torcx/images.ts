// Installs archives into the store of an OS version. A file is trusted because of its hash, never because of its name.
// A download is written to a temporary name in the store's folder and renamed only after its hash was right.
import { join } from 'node:path';
import type { Files } from '../host/files.ts';
import type { ImageOrigin, TorcxAction } from './actions.ts';
import type { Bucket } from './bucket.ts';
import type { TorcxContext } from './context.ts';
import { nodePaths, reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { hasHash, verified } from './image-hash.ts';
import type { PackageVersion } from './package-manifest.ts';
import type { PickedOs } from './pick-version.ts';
import { archiveName, userStoreFor } from './stores.ts';
import type { Torcx } from './torcx.ts';

const imageBytesMax = 4 * 1024 * 1024 * 1024;

export type InstallImage = Extract<TorcxAction, { kind: 'install-image' }>;

export type ImagePlan =
  | { readonly status: 'present'; readonly note: string }
  | { readonly status: 'needed'; readonly action: InstallImage };

/** What is needed so that this OS version finds the archive. It only reads. */
export async function planImage(
  context: TorcxContext,
  picked: PickedOs,
  { torcx, runningOs }: { readonly torcx: Torcx; readonly runningOs: string },
): Promise<ImagePlan> {
  const { osVersion, version } = picked;
  const { name, reference, hash } = version;
  const present = (note: string): ImagePlan => ({ status: 'present', note: `OS ${osVersion}: ${note}` });
  const [first] = (await torcx.listImages(osVersion, name)).filter((image) => image.reference === reference);
  if (first !== undefined && (await isIntact(context, first.filepath, version))) {
    return present(`${name} ${reference} is at ${first.filepath}`);
  }
  const vendor = version.vendorPath;
  if (vendor !== undefined) {
    if (osVersion !== runningOs) return present(`the OS image brings ${vendor}`);
    if ((await context.host.files.facts(context.at(vendor))) !== undefined) return present(`${vendor} is there`);
    context.say('warn', `the package list says that this OS ships ${vendor}, but it is not there`);
  }
  const origin = await findOrigin(context, version);
  const target = join(userStoreFor(osVersion), archiveName(name, reference));
  return { status: 'needed', action: { kind: 'install-image', osVersion, name, reference, hash, target, origin } };
}

/** The OS itself verifies its read-only vendor store; files in every other store are hashed. */
async function isIntact(context: TorcxContext, path: string, { hash }: PackageVersion): Promise<boolean> {
  if (path.startsWith(`${context.at(nodePaths.vendorStore)}/`)) return true;
  if (await hasHash(context.host.files.stream(path), hash)) return true;
  context.say('warn', `${path} does not have the hash of the package list and will not be used`);
  return false;
}

async function findOrigin(context: TorcxContext, version: PackageVersion): Promise<ImageOrigin> {
  const file = archiveName(version.name, version.reference);
  for (const store of [nodePaths.vendorStore, nodePaths.userStore]) {
    for await (const path of findFiles(context.host.files, context.at(store), file)) {
      if (await hasHash(context.host.files.stream(path), version.hash)) return { kind: 'copy', path };
    }
  }
  if (version.urls.length === 0) {
    throw torcxErrors.IMAGE({
      image: file,
      reasons: ['the package list has no URL for it and it is not on this node'],
    });
  }
  return { kind: 'download', urls: version.urls };
}

async function* findFiles(files: Files, folder: string, file: string): AsyncGenerator<string> {
  for (const name of (await files.list(folder)) ?? []) {
    const path = join(folder, name);
    const kind = (await files.facts(path))?.kind;
    if (kind === 'folder') yield* findFiles(files, path, file);
    else if (kind === 'file' && name === file) yield path;
  }
}

/** Carries out the action; if it throws, the store has not changed. */
export async function installImage(context: TorcxContext, bucket: Bucket, action: InstallImage): Promise<void> {
  const { host, at } = context;
  const target = at(action.target);
  await host.files.makeFolder(at(userStoreFor(action.osVersion)));
  const write = (content: AsyncIterable<Uint8Array>): Promise<void> =>
    host.files.writeStream(target, verified(content, action.hash, imageBytesMax), { mode: 0o644 });
  if (action.origin.kind === 'copy') {
    await write(host.files.stream(action.origin.path));
    return;
  }
  const reasons: string[] = [];
  for (const url of action.origin.urls) {
    try {
      await bucket.stream(url, write);
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      reasons.push(reasonOf(error).startsWith(url) ? reasonOf(error) : `${url}: ${reasonOf(error)}`);
      context.say('warn', reasons.at(-1) ?? '');
    }
  }
  throw torcxErrors.IMAGE({ image: archiveName(action.name, action.reference), reasons });
}
