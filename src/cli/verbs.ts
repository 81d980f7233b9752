// Every verb, in the order of --help. To add one: a file with its body, and an entry in the list of its area.
import { bootkubeCommands } from './bootkube/bootkube-commands.ts';
import { clusterCommands } from './cluster/cluster-commands.ts';
import type { CommandSpec } from './frame/verb.ts';
import { createCommands } from './assets/create-commands.ts';
import { machineCommands } from './machine/machine-commands.ts';
import { machineConfigCommands } from './machine-config/machine-config-commands.ts';
import { nodeCommands } from './on-machine/on-machine-commands.ts';
import { releaseCommands } from './release/release-commands.ts';
import { torcxCommands } from './torcx/torcx-commands.ts';

export const commands: readonly CommandSpec[] = [
  ...createCommands,
  ...clusterCommands,
  ...machineCommands,
  ...machineConfigCommands,
  ...releaseCommands,
  ...bootkubeCommands,
  ...nodeCommands,
  {
    path: ['completion'],
    summary: 'Print a script that completes commands and options in your shell.',
    arguments: [{ name: '<shell>', description: 'your shell', choices: ['bash', 'zsh', 'fish'] }],
    examples: ['source <(firstlight completion bash)', 'firstlight completion fish | source'],
    load: async () => (await import('./program/completion.ts')).completion,
  },
  {
    path: ['version'],
    summary: 'Say which Firstlight this is and what runs it.',
    examples: ['firstlight version', 'firstlight version -o json'],
    load: async () => (await import('./program/version.ts')).version,
  },
  ...torcxCommands,
];
