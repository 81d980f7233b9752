// What can go wrong with the keys that encrypt Secrets.
import { type Missing, missingLine } from '../contract/missing.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const secretsEncryptionErrors = errorTable('SECRETS_ENCRYPTION', {
  UNREADABLE: {
    message: (e: { object: string; reason: string }) => `${e.object}: ${e.reason}`,
    hint: 'Masters keep the keys they have. Delete the Secret: a master publishes it again from its own disk.',
    means: 'The Secret that tells masters which keys encrypt Secrets was changed by hand and cannot be understood.',
    exit: exitCodes.infrastructure,
  },
  NOT_PUBLISHED: {
    message: (e: { server: string }) =>
      `the cluster at ${e.server} has not published by which keys it encrypts Secrets`,
    hint: 'A master publishes them seconds after its API server is ready. firstlight diagnose says what keeps masters from it.',
    means: 'The agents of masters keep the list of keys in a Secret of kube-system; there is none yet.',
    exit: exitCodes.infrastructure,
  },
  MASTERS_BEHIND: {
    message: (e: { missing: readonly Missing[]; seconds: number }) =>
      `the keys cannot be changed further: waited ${e.seconds} s for ${missingLine(e.missing)}`,
    hint: 'Start the master, or, if it is gone for good, kubectl delete node NAME. Then run the same command again: it continues.',
    means:
      'A key is used only when every master can read it, and removed only when no master uses it any more. One of them does not answer for that; nothing is lost and every Secret stays readable.',
    exit: exitCodes.infrastructure,
  },
});
