// The release that machines are made of: built where it is missing, otherwise only looked up.
import { stageProgressKey, stageProgressText, working } from '../../contract/stage-progress.ts';
import { buildRelease } from '../../release/build/build-release.ts';
import { bootkubeEnvironmentOf, machineImageOf } from '../../release/machine-image.ts';
import type { WorkflowEvent } from '../../workflow/events.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';

export const release: Stage<ClusterContext> = {
  name: 'release',
  why: 'A cluster runs one release, bit for bit the same on every machine.',
  observe: async () => ({ status: 'needed', because: 'the cache is looked at each time' }),
  run: async ({ host, project, emit, image, bootkubeEnvironment }, { signal, report }) => {
    const tell = (event: WorkflowEvent): void => {
      if (event.kind !== 'stage-progress') return emit(event);
      const { stage, progress } = event;
      report(working(`${stage}: ${stageProgressText(progress)}`, `${stage}: ${stageProgressKey(progress)}`));
    };
    const built = await buildRelease({
      host,
      emit: tell,
      signal,
      version: project.version,
      projectFolder: project.folder,
      source: 'any',
      withMachines: true,
      components: 'kept',
    });
    const current = machineImageOf(built.entries);
    image.set(current);
    bootkubeEnvironment.set(bootkubeEnvironmentOf(built.entries));
    const note = built.made.length === 0 ? `${project.version}, nothing to build` : `${project.version}, built`;
    return { outputs: { release: current.digest }, note };
  },
};
