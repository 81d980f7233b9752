// `firstlight restore`
import { waitLimits, waitOptions } from '../cluster/wait-options.ts';
import { flag, option, text } from '../frame/option.ts';
import { projectFolder, shownPath, typedPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';
import { neededOption } from '../on-machine/needed-option.ts';

export const restoreVerb = defineVerb({
  description: [
    'For a cluster whose masters are all lost: makes them anew with the state of the backup. A bootstrap machine begins',
    'an etcd with the snapshot, the masters join it as in a new cluster, carry the cluster on, and the bootstrap machine',
    'is removed. Everything that was written after the backup is lost. Workers are not touched: they find the API again',
    'and their pods go on running meanwhile. It needs the asset folder of the cluster. Stop it whenever you like: the',
    'machines go on, and the same command continues.',
  ].join(' '),
  options: {
    from: option('--from <file>', 'the backup that firstlight backup wrote', text),
    replaceMasters: flag('--replace-masters', 'destroy masters that are still there, with all that they have'),
    ...waitOptions,
  },
  examples: [
    'firstlight restore --from cluster/backups/demo-x2k4q-20261117030000.tar.gz',
    'firstlight restore --from lab.tar.gz --dir lab --replace-masters',
  ],
  run: async (invocation) => {
    const { host, signal, global, options } = invocation;
    const { dirOption } = await import('../../cluster/cluster-dir.ts');
    const { restoreCluster } = await import('../../cluster/recovery/restore-cluster.ts');
    const { restoreStages } = await import('../../cluster/recovery/restore-stages.ts');
    const { clusterScreen } = await import('../cluster/cluster-screen.ts');
    const from = neededOption('restore', '--from', options.from);
    const startMs = host.clock.monotonicMs();
    const names = restoreStages.map(({ name }) => name);
    await using screen = clusterScreen(invocation, names, `firstlight restore · ${shownPath(invocation)}`);
    const restored = await restoreCluster({
      host,
      dir: global.dir,
      file: typedPath(host, from),
      command: `restore --from ${from}`,
      replacesMasters: options.replaceMasters,
      project: { folder: await projectFolder(host), version: firstlightVersion },
      patience: waitLimits(invocation),
      onStage: screen.onStage,
      emit: screen.emit,
      onObservation: screen.onObservation,
      onLikely: screen.onLikely,
      signal,
    });
    const elapsedMs = host.clock.monotonicMs() - startMs;
    const { backup, lostWorkers } = restored;
    const dir = dirOption(host, global.dir);
    const stages = Object.entries(screen.state().stages).map(([name, { ms }]) => ({ name, ms: ms ?? null }));
    const lines = [
      `The cluster is back as it was at ${backup.takenAt} (revision ${backup.etcd.revision}), after ${(elapsedMs / 1000).toFixed(1)} s.`,
      ...lostWorkers.map((name) => `${name} has no machine: firstlight node add ${name}${dir}`),
    ];
    return { data: { ...restored, elapsedMs, stages }, text: `${lines.join('\n')}\n` };
  },
});
