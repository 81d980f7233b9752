// What can be wrong with an install-config as a whole. The mistakes themselves are data (mistake.ts).
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import { mistakeLines, mistakesMax } from '../source-text/mistake.ts';
import type { ConfigMistake } from './mistake.ts';

export const installConfigErrors = errorTable('INSTALLCONFIG', {
  MISTAKES: {
    message: (e: { file: string; mistakes: readonly ConfigMistake[]; explain: string }) =>
      `${mistakeLines(e.mistakes).join('\n')}\n\n${count(e.mistakes.length)}, nothing was written. ` +
      `firstlight explain ${e.explain} shows what is allowed.`,
    hint: (e: { file: string }) => `Correct ${e.file} and run the same command again.`,
    means:
      'The install-config cannot be used as it is. Every mistake in it is listed at once, each with the line and ' +
      'column where it stands; the same list is in the details of the JSON output.',
    exit: exitCodes.badConfig,
  },
  NO_SUCH_FIELD: {
    message: (e: { path: string; field: string; suggestion?: string }) =>
      `${e.path} has no field ${e.field}${e.suggestion === undefined ? '' : `; did you mean ${e.suggestion}?`}`,
    hint: (e: { path: string }) => `firstlight explain ${e.path} lists the fields there.`,
    means: 'explain was asked for a field that the install-config does not have.',
    exit: exitCodes.usage,
  },
  DIALOGUE_ENDED: {
    message: (e: { question: string }) => `the input ended before "${e.question}" was answered; nothing was written`,
    hint: 'Run the command again, or without a terminal (firstlight create install-config </dev/null) for the defaults.',
    means: 'create install-config asks its questions on a terminal; Ctrl-D or a closed terminal ends them early.',
    exit: exitCodes.interrupted,
  },
});

function count(mistakes: number): string {
  if (mistakes >= mistakesMax) return `${mistakesMax} mistakes or more`;
  return mistakes === 1 ? '1 mistake' : `${mistakes} mistakes`;
}
