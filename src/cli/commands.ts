// Every verb, in the order of --help. To add one: a file with its body, and an entry here.
import type { CommandSpec } from './command.ts';
import { torcxCommands } from './torcx-commands.ts';

export const commands: readonly CommandSpec[] = [
  {
    path: ['version'],
    summary: 'Say which Firstlight this is and what it installs.',
    examples: ['firstlight version', 'firstlight version -o json'],
    load: async () => (await import('./version.ts')).version,
  },
  ...torcxCommands,
];
