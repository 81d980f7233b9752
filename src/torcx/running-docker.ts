// Which docker version runs now, as far as torcx sealed it at boot. Unknown is an answer: it counts as "another one".
import { basename } from 'node:path';
import type { TorcxContext } from './context.ts';
import { nodePaths } from './context.ts';
import { parseProfile } from './profile.ts';
import { addOn } from './pick.ts';
import { vendorReference } from './stores.ts';

export type RunningDocker =
  | { readonly status: 'known'; readonly reference: string }
  | { readonly status: 'unknown'; readonly because: string };

export async function readRunningDocker(context: TorcxContext): Promise<RunningDocker> {
  const { host, at } = context;
  const unknown = (because: string): RunningDocker => ({ status: 'unknown', because });
  const content = await host.files.readIfPresent(at(nodePaths.runningProfile));
  if (content === undefined) return unknown(`${nodePaths.runningProfile} is not there`);
  let reference: string | undefined;
  try {
    const { images } = parseProfile(Buffer.from(content).toString('utf8'));
    reference = images.find((image) => image.name === addOn)?.reference;
  } catch {
    return unknown(`${nodePaths.runningProfile} is not a profile`);
  }
  if (reference === undefined || reference === '') return unknown('no docker was unpacked at boot');
  if (reference !== vendorReference) return { status: 'known', reference };
  const aliased = await aliasTarget(context);
  return aliased === undefined
    ? unknown(`the vendor's alias ${vendorReference} does not lead to a version`)
    : { status: 'known', reference: aliased };
}

/** `docker:com.coreos.cl.torcx.tgz` is a link to the archive of the version that the OS ships by default. */
async function aliasTarget({ host, at }: TorcxContext): Promise<string | undefined> {
  const link = at(`${nodePaths.vendorStore}/${addOn}:${vendorReference}.torcx.tgz`);
  const target = await host.files.readLink(link).catch(() => undefined);
  const match = new RegExp(`^${addOn}:(.+)\\.torcx\\.tgz$`).exec(basename(target ?? ''));
  return match?.[1];
}
