// Errors of stages that run or wait, and of the journal.
import { type Missing, missingLine } from '../contract/missing.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const workflowErrors = errorTable('WORKFLOW', {
  DEADLINE: {
    message: (e: { what: string; seconds: number; missing: readonly Missing[] }) =>
      `${e.what} did not happen within ${e.seconds} s; still missing: ${missingLine(e.missing) || 'nothing was seen at all'}`,
    hint: 'Run the same command again: it continues where it stopped.',
    means: 'A wait reached its deadline. The message names what was still missing at the last look.',
    exit: exitCodes.infrastructure,
  },
  VERIFY: {
    message: (e: { stage: string; check: string; reason: string }) => `stage ${e.stage}: ${e.check}: ${e.reason}`,
    hint: 'The output of that stage is not what the next one may build on. Fix the cause and run the same command again.',
    means: 'A stage ran, but what it produced did not pass its own verification, so nothing after it was started.',
    exit: exitCodes.infrastructure,
  },
  JOURNAL_CORRUPT: {
    message: (e: { path: string; line: number; reason: string }) => `${e.path}: line ${e.line} ${e.reason}`,
    hint: (e: { path: string; line: number }) =>
      `Nothing was changed. Move ${e.path} away to start a new journal (files that exist are then taken as yours), or restore it from a backup.`,
    means:
      'The journal is a chain of checksums. A torn last line is normal after a crash and is dropped; a broken link before the end means that the file was altered.',
    exit: exitCodes.other,
  },
  INTERRUPTED: {
    message: (e: { by: string }) => `interrupted by ${e.by}`,
    hint: 'Everything up to here is kept. Run the same command again: it continues where it stopped.',
    means: 'The command was asked to stop by a signal and stopped between two atomic steps.',
    exit: exitCodes.interrupted,
  },
});
