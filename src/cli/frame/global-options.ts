// The options that every verb understands, before or after its own words.
import { choiceOf, option, text, type ValuesOf } from './option.ts';

export const globalOptions = {
  dir: option('--dir <folder>', 'folder of the install-config and the assets', text, 'cluster'),
  output: option('-o, --output <format>', 'how to print the result', choiceOf(['text', 'json', 'yaml']), 'text'),
  logLevel: option(
    '--log-level <level>',
    'what to tell on stderr',
    choiceOf(['debug', 'info', 'warn', 'error']),
    'info',
  ),
};

/** `dir` is absolute when a body gets it. */
export type GlobalOptions = ValuesOf<typeof globalOptions>;
export type OutputFormat = GlobalOptions['output'];
