// What can go wrong while logs are gathered and bundles are read. That something could not be taken is no error.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import type { Missed } from './bundle-contents.ts';

export const gatherErrors = errorTable('GATHER', {
  NOTHING: {
    message: (e: { missed: readonly Missed[] }) =>
      `nothing could be gathered:\n${e.missed.map(({ what, reason }) => `  ${what}: ${reason}`).join('\n')}`,
    hint: 'No machine could be looked at and the API does not answer. --bootstrap, --master and --worker name machines that SSH reaches; --ssh-key names the key.',
    means:
      'A bundle is made of whatever can be taken. Neither a machine, running or stopped, nor the API gave anything, so there is no bundle.',
    exit: exitCodes.infrastructure,
  },
  NO_BOOTSTRAP: {
    message: (e: { dir: string }) => `the cluster in ${e.dir} has no bootstrap machine to look at`,
    hint: 'firstlight gather looks at the machines that there are; --bootstrap ADDRESS names one that SSH reaches.',
    means:
      'The bootstrap machine is removed when the masters carry the cluster, and only machines on this host are known.',
    exit: exitCodes.usage,
  },
  NO_BUNDLE: {
    message: (e: { dir: string }) => `there is no log-bundle-*.tar.gz in ${e.dir}`,
    hint: 'firstlight gather makes one; or name the file.',
    means: 'Without a file, gather analyze reads the newest bundle of the asset folder.',
    exit: exitCodes.usage,
  },
  UNREADABLE: {
    message: (e: { path: string; reason: string }) => `${e.path} is no bundle that can be read: ${e.reason}`,
    hint: 'firstlight gather makes a new one.',
    means: 'A bundle is a tar archive, compressed by gzip, with one folder named like the file.',
    exit: exitCodes.usage,
  },
});
