// The asset folder on the disk: opened under a lock, read by digest, written so that an asset appears whole or not at
// all. A multi-file asset is staged, then announced in the journal, then renamed into place: a crash before the
// announcement leaves nothing, a crash after it is rolled forward by the next command.
import { dirname, join } from 'node:path';
import { ownFolder } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { digestOf } from '../workflow/digest.ts';
import { type Journal, openJournal } from '../workflow/journal.ts';
import type { Digests, StageResult } from '../workflow/stage.ts';
import type { AnyAsset, AssetFile, FileSet } from './asset.ts';
import { assetErrors } from './errors.ts';

export interface AssetFolder extends AsyncDisposable {
  readonly dir: string;
  readonly journal: Journal;
  readonly host: Host;
}

interface Intent {
  readonly kind: 'intent';
  readonly stage: string;
  readonly files: Digests;
  readonly result: StageResult;
}

const secretFolders = new Set(['tls', 'auth', ownFolder]);
const foreignMarks = ['.openshift_install_state.json', '.openshift_install.log'];

/** Opens (and makes, where needed) the folder. Throws ASSET_BUSY while another command works in it. */
export async function openAssetFolder(host: Host, dir: string, purpose: string): Promise<AssetFolder> {
  const { files } = host;
  await refuseForeign(host, dir);
  await files.makeFolder(dir, { mode: 0o700 });
  const lock = await files.lock(dir, purpose);
  if ('heldBy' in lock) throw assetErrors.BUSY({ dir, ...lock.heldBy });
  try {
    await files.makeFolder(join(dir, ownFolder), { mode: 0o700 });
    const journal = await openJournal(files, join(dir, ownFolder, 'journal'));
    const folder: AssetFolder = {
      dir,
      journal,
      host,
      [Symbol.asyncDispose]: async () => {
        await journal[Symbol.asyncDispose]();
        await lock[Symbol.asyncDispose]();
      },
    };
    await rollForward(folder);
    return folder;
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

async function refuseForeign(host: Host, dir: string): Promise<void> {
  const facts = await host.files.facts(dir);
  if (facts === undefined) return;
  if (facts.kind === 'file') throw assetErrors.FOREIGN({ dir, found: 'a file, not a folder' });
  const names = (await host.files.list(dir)) ?? [];
  const found = names.find((name) => foreignMarks.includes(name));
  if (found !== undefined) throw assetErrors.FOREIGN({ dir, found: `${found} of openshift-install` });
}

/** The asset's files that are there now: its own outputs, what it wrote before, and what a user put beside them. */
export async function readAssetFiles(folder: AssetFolder, asset: AnyAsset, known: readonly string[]): Promise<FileSet> {
  const paths = new Set(known);
  for (const output of asset.outputs) {
    if (!output.endsWith('/*')) paths.add(output);
    else for (const name of await manifestNames(folder, output.slice(0, -2))) paths.add(name);
  }
  const read = async (path: string): Promise<readonly [string, Uint8Array | undefined]> => [
    path,
    await folder.host.files.readIfPresent(join(folder.dir, path)),
  ];
  const found = await Promise.all([...paths].sort().map(read));
  return new Map(found.filter((entry): entry is readonly [string, Uint8Array] => entry[1] !== undefined));
}

async function manifestNames(folder: AssetFolder, subfolder: string): Promise<readonly string[]> {
  const names = (await folder.host.files.list(join(folder.dir, subfolder))) ?? [];
  return names.filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name)).map((name) => `${subfolder}/${name}`);
}

export function digestsOf(files: FileSet): Digests {
  return Object.fromEntries([...files].map(([path, content]) => [path, digestOf(content)]));
}

/** Writes all of `files` or, seen from the next command, none of them. */
export async function writeAssetFiles(
  folder: AssetFolder,
  stage: string,
  write: { readonly files: readonly AssetFile[]; readonly result: StageResult },
): Promise<void> {
  if (write.files.length === 0) return;
  const { files } = folder.host;
  await makeFolders(folder, write.files);
  const staging = join(folder.dir, ownFolder, 'staging');
  await files.remove(staging);
  await files.makeFolder(staging, { mode: 0o700 });
  const put = (file: AssetFile): Promise<void> =>
    files.write(stagedPath(folder, file.path), file.content, { mode: file.mode ?? 0o644 });
  await Promise.all(write.files.map(put));
  const digests = Object.fromEntries(write.files.map((file) => [file.path, digestOf(file.content)]));
  const intent: Intent = { kind: 'intent', stage, files: digests, result: write.result };
  await folder.journal.append({ ...intent, at: folder.host.clock.now().toISOString() });
  await place(folder, digests);
}

function stagedPath(folder: AssetFolder, path: string): string {
  return join(folder.dir, ownFolder, 'staging', encodeURIComponent(path));
}

async function makeFolders(folder: AssetFolder, assetFiles: readonly AssetFile[]): Promise<void> {
  const names = new Set(assetFiles.map((file) => dirname(file.path)).filter((name) => name !== '.'));
  for (const name of names) {
    const isSecret = secretFolders.has(name.split('/')[0] ?? '');
    await folder.host.files.makeFolder(join(folder.dir, name), { mode: isSecret ? 0o700 : 0o755 });
  }
}

async function place(folder: AssetFolder, digests: Digests): Promise<void> {
  const { files } = folder.host;
  for (const [path, digest] of Object.entries(digests)) {
    const staged = await files.readIfPresent(stagedPath(folder, path));
    // Already renamed before the crash, or staged again by a later attempt: only what was announced is placed.
    if (staged === undefined || digestOf(staged) !== digest) continue;
    await files.rename(stagedPath(folder, path), join(folder.dir, path));
  }
  await files.remove(join(folder.dir, ownFolder, 'staging'));
}

/** Finishes an asset that was announced but whose record is missing: the crash came in between. */
async function rollForward(folder: AssetFolder): Promise<void> {
  const intent = folder.journal.records.findLast((record) => record.kind === 'intent') as Intent | undefined;
  const last = folder.journal.records.at(-1);
  if (intent === undefined || last?.kind !== 'intent') {
    await folder.host.files.remove(join(folder.dir, ownFolder, 'staging'));
    return;
  }
  await place(folder, intent.files);
  const at = folder.host.clock.now().toISOString();
  await folder.journal.append({ kind: 'stage', at, stage: intent.stage, ...intent.result });
}
