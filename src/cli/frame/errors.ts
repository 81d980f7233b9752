// What a user can get wrong on the command line itself.
import { exitCodes } from '../../errors/exit-codes.ts';
import { errorTable } from '../../errors/firstlight-error.ts';

export const cliErrors = errorTable('CLI', {
  UNKNOWN_COMMAND: {
    message: (e: { words: string; nearest?: string }) =>
      `${e.words} is not a command${e.nearest === undefined ? '' : `; did you mean ${e.nearest}?`}`,
    hint: (e: { words: string; nearest?: string }) =>
      e.nearest === undefined
        ? 'firstlight --help lists the commands.'
        : `firstlight ${e.nearest} --help shows how to use it.`,
    means: 'The words after `firstlight` name no command.',
    exit: exitCodes.usage,
  },
  USAGE: {
    message: (e: { reason: string; command: string }) => `${e.command}: ${e.reason}`,
    hint: (e: { reason: string; command: string }) => `${e.command} --help shows what is allowed.`,
    means: 'An option or an argument is missing, unknown or not allowed.',
    exit: exitCodes.usage,
  },
  INTERNAL: {
    message: (e: { reason: string }) => `a bug in firstlight: ${e.reason}`,
    hint: 'Run again with --log-level debug and report the stack trace it prints.',
    means: 'Something happened that the program does not expect. This is never the fault of your input.',
    exit: exitCodes.other,
  },
});
