// The options that every verb understands, before or after its own words.
import { choiceOf, optionWithDefault, text, type ValuesOf } from './option.ts';

export const globalOptions = {
  dir: optionWithDefault('--dir <folder>', 'folder of the install-config and the assets', text, 'cluster'),
  output: optionWithDefault(
    '-o, --output <format>',
    'how to print the result',
    choiceOf(['text', 'json', 'yaml']),
    'text',
  ),
  logLevel: optionWithDefault(
    '--log-level <level>',
    'what to tell on stderr',
    choiceOf(['debug', 'info', 'warn', 'error']),
    'info',
  ),
};

/** `dir` is absolute when a body gets it. */
export type GlobalOptions = ValuesOf<typeof globalOptions>;
export type OutputFormat = GlobalOptions['output'];
