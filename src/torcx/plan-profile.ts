// Which profile carries the add-on: the one that boots next if there is one, else ours. `vendor` is not ours to edit.
import { join } from 'node:path';
import type { TorcxAction } from './actions.ts';
import type { TorcxContext } from './context.ts';
import { nodePaths } from './context.ts';
import { torcxErrors } from './errors.ts';
import { parseProfile } from './profile.ts';
import type { Torcx } from './torcx.ts';

export async function planProfile(
  context: TorcxContext,
  torcx: Torcx,
  image: { readonly name: string; readonly reference: string },
): Promise<readonly TorcxAction[]> {
  const { next, names } = await torcx.listProfiles();
  const isNextUsable = next !== undefined && next !== 'vendor';
  const profile = isNextUsable ? next : context.settings.profile;
  const isNew = !names.includes(profile);
  const content = await context.host.files.readIfPresent(context.at(join(nodePaths.userProfiles, `${profile}.json`)));
  // torcx would refuse to edit it, but only after the images were installed.
  if (!isNew && content === undefined && context.settings.torcxBin === undefined) {
    throw torcxErrors.TORCX({
      operation: `profile use-image ${profile}`,
      reason: 'the profile belongs to the OS and cannot be edited; copy it to /etc/torcx/profiles',
    });
  }
  if (next === profile && isAlreadySo(content, image)) return [];
  return [{ kind: 'use-profile', profile, isNew, ...image }];
}

function isAlreadySo(content: Uint8Array | undefined, image: { name: string; reference: string }): boolean {
  if (content === undefined) return false;
  try {
    const { images } = parseProfile(Buffer.from(content).toString('utf8'));
    return images.some((entry) => entry.name === image.name && entry.reference === image.reference);
  } catch {
    return false;
  }
}
