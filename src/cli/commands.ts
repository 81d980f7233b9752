// Every verb, in the order of --help. To add one: a file with its body, and an entry in the list of its area.
import { bootkubeCommands } from './bootkube-commands.ts';
import { clusterCommands } from './cluster-commands.ts';
import type { CommandSpec } from './command.ts';
import { createCommands } from './create-commands.ts';
import { machineCommands } from './machine-commands.ts';
import { machineConfigCommands } from './machine-config-commands.ts';
import { nodeCommands } from './node-commands.ts';
import { releaseCommands } from './release-commands.ts';
import { torcxCommands } from './torcx-commands.ts';

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
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    path: ['version'],
    summary: 'Say which Firstlight this is and what runs it.',
    examples: ['firstlight version', 'firstlight version -o json'],
    load: async () => (await import('./version.ts')).version,
  },
  ...torcxCommands,
];
