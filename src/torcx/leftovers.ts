// What a killed run can leave: temporary files of writes that never became visible. Only names that the host gives to
// its own temporary files, only beside files that are ours to write, and only under the lock.
import { dirname, join } from 'node:path';
import type { TorcxContext } from './context.ts';
import { nodePaths } from './context.ts';

const temporary = /^\.(.+)\.[0-9a-f]{12}\.tmp$/;

export async function sweepLeftovers({ host, settings, at }: TorcxContext): Promise<void> {
  const { files } = host;
  const stores = (await files.list(at(nodePaths.userStore))) ?? [];
  const places: readonly (readonly [string, RegExp])[] = [
    ...stores.map((name) => [join(nodePaths.userStore, name), /^docker:.*\.torcx\.tgz$/] as const),
    [nodePaths.userProfiles, /\.json$/],
    [dirname(nodePaths.nextProfile), /^next-profile$/],
    [dirname(nodePaths.cleanupUnit), /^torcx-docker-cleanup\.service$/],
    [nodePaths.runFolder, /^torcx-reboot-owed$/],
    ...(settings.kubeletEnvPath === undefined ? [] : [[dirname(settings.kubeletEnvPath), /^kubelet\.env$/] as const]),
  ];
  for (const [folder, ours] of places) {
    for (const name of (await files.list(at(folder))) ?? []) {
      const target = temporary.exec(name)?.[1];
      if (target !== undefined && ours.test(target)) await files.remove(join(at(folder), name));
    }
  }
}
