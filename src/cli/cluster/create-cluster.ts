// `firstlight create cluster`
import { z } from 'zod';
import { createCluster } from '../../cluster/create-cluster.ts';
import { createStages } from '../../cluster/create-stages.ts';
import { dirOption } from '../../cluster/cluster-dir.ts';
import { finishedCluster } from '../../cluster/finished-cluster.ts';
import { closingText } from './closing-text.ts';
import { clusterScreen } from './cluster-screen.ts';
import type { CommandBody } from '../frame/verb.ts';
import { patienceOf } from './wait-options.ts';
import { firstlightVersion } from '../frame/program.ts';
import { projectFolder } from '../frame/project-folder.ts';
import { shownPath } from '../frame/shown-path.ts';
import { localKubeconfigPath } from '../../contract/asset-folder.ts';

const optionsSchema = z.looseObject({ keepBootstrap: z.boolean().default(false) });

export const createClusterCommand: CommandBody = async (invocation) => {
  const { host, signal, global } = invocation;
  const { keepBootstrap } = optionsSchema.parse(invocation.options);
  const patience = patienceOf(invocation);
  const startMs = host.clock.monotonicMs();
  const finished = await finishedCluster(host, global.dir, signal);
  if (finished !== undefined) {
    return {
      data: { ...finished, isNew: false },
      text: `${finished.domain} is complete: ${finished.nodes.length} nodes Ready, nothing to do\n`,
    };
  }
  const title = `firstlight · ${shownPath(invocation)}`;
  const screen = clusterScreen(
    invocation,
    createStages.map(({ name }) => name),
    title,
  );
  const drawing = new AbortController();
  const drawn = screen.run(drawing.signal);
  try {
    const cluster = await createCluster({
      host,
      dir: global.dir,
      project: { folder: await projectFolder(host), version: firstlightVersion },
      patience,
      keepsBootstrap: keepBootstrap,
      onStage: screen.onStage,
      emit: screen.emit,
      onSight: screen.onSight,
      onLikely: screen.onLikely,
      signal,
    });
    const elapsedMs = host.clock.monotonicMs() - startMs;
    const kubeconfig = shownPath(invocation, localKubeconfigPath);
    const stages = Object.entries(screen.story().stages).map(([name, { ms }]) => ({ name, ms: ms ?? null }));
    return {
      data: { ...cluster, isNew: true, elapsedMs, stages },
      text: `\n${closingText({
        cluster,
        story: screen.story(),
        elapsedMs,
        kubeconfig,
        dirOption: dirOption(host, global.dir),
        keepsBootstrap: keepBootstrap,
      })}`,
    };
  } finally {
    drawing.abort();
    await drawn;
  }
};
