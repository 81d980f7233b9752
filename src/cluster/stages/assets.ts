// The stage that makes everything that machines boot with.
import { createAssets } from '../../assets/create-assets.ts';
import { installConfig } from '../../assets/install-config.ts';
import { targets } from '../../assets/targets.ts';
import { choosePlatform } from '../../platform/choose-platform.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { planCluster } from '../cluster-plan.ts';
import { clusterErrors } from '../errors.ts';

export const assets: Stage<ClusterContext> = {
  name: 'assets',
  why: 'Machines are born from files that can be read and changed before anything runs.',
  observe: async () => ({ status: 'needed', because: 'the folder has a journal of its own' }),
  run: async ({ host, dir, emit, plan }, { signal }) => {
    const created = await createAssets({
      host,
      dir,
      targets: targets['ignition-configs'],
      purpose: 'create cluster',
      emit,
      signal,
    });
    const platform = choosePlatform(host, created.value(installConfig).platform);
    if (platform.createMachines === undefined) {
      throw clusterErrors.PLATFORM_NONE({ command: 'create cluster', platform: platform.name });
    }
    plan.set(planCluster(created, platform));
    const files = [...created.files.values()].flatMap((set) => [...set.keys()]);
    const certificates = files.filter((path) => path.endsWith('.crt'));
    return { note: `${files.length} files, ${certificates.length} certificates` };
  },
};
