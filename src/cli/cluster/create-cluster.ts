// `firstlight create cluster`
import { adminKubeconfigPath } from '../../contract/asset-folder.ts';
import { everyStage, pausePointNamed, pausePoints } from '../../contract/bootstrap-pause.ts';
import { flag, option, type ValueKind } from '../frame/option.ts';
import { projectFolder, shownPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';
import { closingText } from './closing-text.ts';
import { waitLimits, waitOptions } from './wait-options.ts';

const pausePoint: ValueKind<string> = {
  parse: pausePointNamed,
  expected: `a number from 1 to 15, or one of ${pausePoints.join(', ')}`,
};

export const createClusterVerb = defineVerb({
  description:
    'Makes the assets, the release and the machines, follows the bootstrap until the masters carry the cluster alone, removes the bootstrap machine and waits until every node is Ready and every operator of the release Available. Stop it whenever you like: the machines go on, and the same command continues. With --step or --pause-before the bootstrap waits for you, also after this command was stopped; only firstlight bootkube next and continue let it go on.',
  options: {
    ...waitOptions,
    keepBootstrap: flag('--keep-bootstrap', 'leave the bootstrap machine, emptied of its secrets, to look into'),
    gather: flag('--no-gather', 'make no log bundle when it fails'),
    step: flag('--step', 'hold the bootstrap before every stage; firstlight bootkube next runs one'),
    pauseBefore: option(
      '--pause-before <stage>',
      'hold the bootstrap before this stage: its number or name, masters, control-planes or handoff',
      pausePoint,
    ),
  },
  examples: [
    'firstlight create cluster',
    'firstlight create cluster --dir lab',
    'firstlight create cluster --step',
    'firstlight create cluster --pause-before handoff',
  ],
  run: async (invocation) => {
    const { createCluster } = await import('../../cluster/create-cluster.ts');
    const { createStages } = await import('../../cluster/create-stages.ts');
    const { dirOption } = await import('../../cluster/cluster-dir.ts');
    const { finishedCluster } = await import('../../cluster/finished-cluster.ts');
    const { clusterScreen } = await import('./cluster-screen.ts');
    const { host, signal, global } = invocation;
    const { keepBootstrap, step, pauseBefore } = invocation.options;
    const patience = waitLimits(invocation);
    const startMs = host.clock.monotonicMs();
    const finished = await finishedCluster(host, global.dir, signal);
    if (finished !== undefined) {
      return {
        data: { ...finished, isNew: false },
        text: `${finished.domain} is complete: ${finished.nodes.length} nodes Ready, nothing to do\n`,
      };
    }
    const names = createStages.map(({ name }) => name);
    await using screen = clusterScreen(invocation, names, `firstlight · ${shownPath(invocation)}`);
    const cluster = await createCluster({
      host,
      dir: global.dir,
      project: { folder: await projectFolder(host), version: firstlightVersion },
      patience,
      keepsBootstrap: keepBootstrap,
      pause: pauseBefore !== undefined ? { before: pauseBefore } : step ? everyStage : undefined,
      onStage: screen.onStage,
      emit: screen.emit,
      onObservation: screen.onObservation,
      onLikely: screen.onLikely,
      signal,
    }).catch(async (error: unknown) => {
      if (invocation.options.gather) {
        const { gatherAfterFailure } = await import('../gather/gather-after-failure.ts');
        await gatherAfterFailure(invocation, { error, command: 'firstlight create cluster', emit: screen.emit });
      }
      throw error;
    });
    const state = screen.state();
    const elapsedMs = host.clock.monotonicMs() - startMs;
    const closing = closingText({
      cluster,
      state,
      elapsedMs,
      kubeconfig: shownPath(invocation, adminKubeconfigPath),
      dirOption: dirOption(host, global.dir),
      keepsBootstrap: keepBootstrap,
    });
    const stages = Object.entries(state.stages).map(([name, { ms }]) => ({ name, ms: ms ?? null }));
    const nodesReadyMs = elapsedMs - (state.stages['operators']?.ms ?? 0);
    return { data: { ...cluster, isNew: true, nodesReadyMs, elapsedMs, stages }, text: `\n${closing}` };
  },
});
