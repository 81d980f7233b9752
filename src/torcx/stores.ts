// Where torcx looks for archives, and what the names there mean. The order is torcx's own: the first hit is what boots.
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
/** What a file name without a reference stands for: the vendor's choice. */
export const vendorReference = 'com.coreos.cl';

export function archiveName(name: string, reference: string): string {
  return `${name}:${reference}.torcx.tgz`;
}

/** The store that this program fills for one OS version. */
export function userStoreFor(osVersion: string): string {
  return join(nodePaths.userStore, osVersion);
}

/** A vendor store belongs to the running OS alone; every other store serves any OS version. */
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

/** Archives directly in one folder; a link to a regular file counts, nothing else but files does. */
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
