// The verbs of the bootstrap machine: all stages, one stage, and the names under which the stages are known.
import type { CommandSpec } from '../frame/verb.ts';

/** The names of the original's scripts → the stage they are. */
const scripts: readonly (readonly [string, number, string])[] = [
  ['render-etcd', 7, 'Render the first etcd member.'],
  ['render-kube-apiserver', 8, 'Render the temporary API server.'],
  ['render-kcm', 9, 'Render the temporary controller manager.'],
  ['render-scheduler', 10, 'Render the temporary scheduler.'],
  ['render-cvo', 6, 'Render the release’s own manifests and the ClusterVersion.'],
  ['render-mco', 12, 'Render one machine configuration per pool.'],
  ['start-bootstrap', 13, 'Start what was rendered: etcd, API, and those who need it.'],
];

const stageOptions = [
  { flags: '--show', description: 'explain the stage and show what it rendered; run nothing' },
  { flags: '--step', description: 'explain first, then ask before running' },
];

export const bootkubeCommands: readonly CommandSpec[] = [
  {
    path: ['bootkube', 'stages'],
    summary: 'List the fifteen stages of a bootstrap, and how far they are on this machine.',
    examples: ['firstlight bootkube stages', 'firstlight machine exec bootstrap -- firstlight bootkube stages'],
    load: async () => (await import('./stages.ts')).bootkubeStages,
  },
  {
    path: ['bootkube', 'stage'],
    summary: 'Run, show or step through one stage on a bootstrap machine.',
    description:
      'Every stage explains what it does and why, shows what the original ran at this point, and renders into its own folder. What can be checked there is verified before the next stage may start.',
    arguments: [{ name: '<number>', description: '1 to 15' }],
    options: stageOptions,
    examples: [
      'firstlight bootkube stage 7 --show',
      'firstlight bootkube stage 8 --step',
      'firstlight bootkube stage 13',
    ],
    load: async () => (await import('./stage.ts')).bootkubeStage,
  },
  {
    path: ['bootkube', 'render-all'],
    summary: 'Run the stages 1 to 12: render everything, start nothing.',
    examples: ['firstlight bootkube render-all'],
    load: async () => (await import('./stage.ts')).bootkubeRenderAll,
  },
  ...scripts.map(
    ([name, number, summary]): CommandSpec => ({
      path: ['bootkube', name],
      summary,
      options: stageOptions,
      examples: [`firstlight bootkube ${name} --show`],
      load: async () => (await import('./stage.ts')).bootkubeNamed(number),
    }),
  ),
  {
    path: ['bootkube', 'run'],
    summary: 'The whole bootstrap of this machine: the stages, the masters, the handoff.',
    isHidden: true,
    examples: ['firstlight bootkube run'],
    load: async () => (await import('./run.ts')).bootkubeRun,
  },
  {
    path: ['approve-csr'],
    summary: 'Let the expected machines in while the bootstrap goes on.',
    isHidden: true,
    examples: ['firstlight approve-csr'],
    load: async () => (await import('./run.ts')).approveCsr,
  },
  {
    path: ['tectonic'],
    summary: 'Deploy the add-ons through the masters.',
    isHidden: true,
    examples: ['firstlight tectonic'],
    load: async () => (await import('./run.ts')).tectonic,
  },
  {
    path: ['rm-assets'],
    summary: 'Remove every secret and token of this bootstrap machine.',
    isHidden: true,
    examples: ['firstlight rm-assets'],
    load: async () => (await import('./run.ts')).rmAssets,
  },
  {
    path: ['progress'],
    summary: 'Report how far the bootstrap is.',
    isHidden: true,
    examples: ['firstlight progress'],
    load: async () => (await import('./run.ts')).progress,
  },
];
