// The options every verb understands, before or after its own words.
import type { OptionSpec } from './verb.ts';

export const globalOptions: readonly OptionSpec[] = [
  { flags: '--dir <folder>', description: 'folder of the install-config and the assets', defaultValue: 'cluster' },
  {
    flags: '-o, --output <format>',
    description: 'how to print the result',
    choices: ['text', 'json', 'yaml'],
    defaultValue: 'text',
  },
  {
    flags: '--log-level <level>',
    description: 'what to tell on stderr',
    choices: ['debug', 'info', 'warn', 'error'],
    defaultValue: 'info',
  },
];
