// What can be wrong with an asset folder. Every row names the file and leaves it as it was.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const assetErrors = errorTable('ASSET', {
  CONFLICT: {
    message: (e: { asset: string; files: readonly string[]; changed: readonly string[] }) =>
      `${e.files.join(', ')} ${e.files.length === 1 ? 'was' : 'were'} edited by hand, and ${changedWords(e.changed)} since`,
    hint: (e: { asset: string; files: readonly string[]; changed: readonly string[] }) =>
      `Nothing was written. Either undo that change, or move ${e.files.join(', ')} away and run the same command again: it is then generated anew and you can repeat your edit.`,
    means:
      'A file that you edited is derived from another one that changed afterwards. Keeping the edit would ignore the change, generating it anew would lose the edit, so firstlight does neither.',
    exit: exitCodes.badConfig,
  },
  INCOMPLETE: {
    message: (e: { asset: string; present: readonly string[]; missing: readonly string[] }) =>
      `${e.missing.join(', ')} ${e.missing.length === 1 ? 'is' : 'are'} missing, but ${e.present.join(', ')} ${e.present.length === 1 ? 'is' : 'are'} there`,
    hint: (e: { asset: string; present: readonly string[]; missing: readonly string[] }) =>
      `These files belong together. Put ${e.missing.join(', ')} back, or move ${e.present.join(', ')} away to have all of them made anew.`,
    means:
      'A key and its certificate are one asset. With only one of them firstlight cannot tell which one you want to keep.',
    exit: exitCodes.badConfig,
  },
  MISMATCH: {
    message: (e: { asset: string; reason: string }) => `${e.asset}: ${e.reason}`,
    hint: 'The folder holds files of two clusters, or a file was replaced. Put the right file back, use another --dir, or move the file away to have it made anew.',
    means: 'A file parses, but does not belong to the others in this folder.',
    exit: exitCodes.badConfig,
  },
  UNREADABLE: {
    message: (e: { file: string; reason: string }) => `${e.file}: ${e.reason}`,
    hint: 'Put a right version of that file back, or move it away to have it made anew.',
    means: 'A file in the asset folder is not what its name says.',
    exit: exitCodes.badConfig,
  },
  EXPIRED: {
    message: (e: { file: string; at: string }) => `${e.file} expired on ${e.at}`,
    hint: 'A signer cannot be renewed without changing what every machine trusts. Make a new cluster in another --dir, or set the clock of this machine right if it is wrong.',
    means: 'A certificate authority of this folder is past its end, or this machine believes so.',
    exit: exitCodes.badConfig,
  },
  FOREIGN: {
    message: (e: { dir: string; found: string }) => `${e.dir} belongs to something else: it holds ${e.found}`,
    hint: 'Choose another folder with --dir.',
    means: 'The folder is not empty and was not made by firstlight. Nothing in it is touched.',
    exit: exitCodes.badConfig,
  },
  BUSY: {
    message: (e: { dir: string; pid?: number; purpose?: string }) =>
      `another firstlight${e.pid === undefined ? '' : ` (process ${e.pid}${e.purpose === undefined ? '' : `, ${e.purpose}`})`} is working in ${e.dir}`,
    hint: 'Wait until it is done, or end it, then run the same command again.',
    means:
      'Two commands would write to the same asset folder at once. The second one stops before it changes anything.',
    exit: exitCodes.infrastructure,
  },
  DUPLICATE_MANIFEST: {
    message: (e: { object: string; first: string; second: string }) =>
      `${e.object} is in both ${e.first} and ${e.second}`,
    hint: 'Remove it from one of the two files.',
    means: 'Two files in manifests/ define the same object; only one of them could win, and silently.',
    exit: exitCodes.badConfig,
  },
});

function changedWords(changed: readonly string[]): string {
  return changed.length === 0 ? 'it has come near its end' : `${changed.join(', ')} changed`;
}
