// The folders where torcx looks for archives, in its order (the first match is used), and the meaning of file names.
import { join } from 'node:path';
import { z } from 'zod';
import type { TorcxContext } from './context.ts';
import { nodePaths } from './context.ts';
import type { TorcxImage } from './torcx.ts';

const config = z.object({
  kind: z.literal('torcx-config-v0'),
  value: z.object({ store_paths: z.array(z.string()).nullish() }),
});
const suffixes = ['.torcx.squashfs', '.torcx.tgz'] as const;
/** The reference of a file name that states none: the vendor's default version. */
export const vendorReference = 'com.coreos.cl';

export function archiveName(name: string, reference: string): string {
  return `${name}:${reference}.torcx.tgz`;
}

/** The store into which we install archives for one OS version. */
export function userStoreFor(osVersion: string): string {
  return join(nodePaths.userStore, osVersion);
}

/** The vendor store belongs to the running OS only; the other stores serve every OS version. */
export async function storeFolders(
  context: TorcxContext,
  osVersion: string,
  runningOs: string,
): Promise<readonly string[]> {
  const { at } = context;
  const extra = context.host.environment.variables['TORCX_STOREPATH'];
  return [
    ...(osVersion === runningOs ? [at(nodePaths.vendorStore)] : []),
    at(join(nodePaths.oemStore, osVersion)),
    at(nodePaths.oemStore),
    ...(await configuredStores(context)),
    at(userStoreFor(osVersion)),
    at(nodePaths.userStore),
    ...(extra === undefined || extra === '' ? [] : [extra]),
  ];
}

async function configuredStores({ host, at }: TorcxContext): Promise<readonly string[]> {
  const content = await host.files.readIfPresent(at(nodePaths.torcxConfig));
  if (content === undefined || content.length === 0) return [];
  const result = config.safeParse(JSON.parse(Buffer.from(content).toString('utf8')));
  return result.success ? (result.data.value.store_paths ?? []) : [];
}

/** Archives directly in one folder: regular files and links to regular files. */
export async function imagesIn(context: TorcxContext, folder: string): Promise<readonly TorcxImage[]> {
  const { files } = context.host;
  const found: TorcxImage[] = [];
  for (const suffix of suffixes) {
    for (const file of (await files.list(folder)) ?? []) {
      const image = parseArchiveName(file, suffix);
      if (image === undefined) continue;
      const filepath = join(folder, file);
      const target = await files.realPath(filepath).catch(() => undefined);
      const facts = target === undefined ? undefined : await files.facts(target);
      if (facts?.kind === 'file') found.push({ ...image, filepath });
    }
  }
  return found;
}

function parseArchiveName(file: string, suffix: string): Omit<TorcxImage, 'filepath'> | undefined {
  if (!file.endsWith(suffix)) return undefined;
  const stem = file.slice(0, -suffix.length);
  const at = stem.lastIndexOf(':');
  return at === -1
    ? { name: stem, reference: vendorReference }
    : { name: stem.slice(0, at), reference: stem.slice(at + 1) };
}
