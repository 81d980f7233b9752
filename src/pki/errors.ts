// What can be wrong with a key, a certificate or a signing request that was given to us.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const pkiErrors = errorTable('PKI', {
  KEY_UNREADABLE: {
    message: (e: { reason: string }) => `this is not a private key that firstlight can use: ${e.reason}`,
    hint: 'Restore the key file from a copy, or delete key and certificate together: the next run makes both anew.',
    means: 'A private key must be one unencrypted PEM block holding an EC key on the curve P-256.',
    exit: exitCodes.badConfig,
  },
  CERTIFICATE_UNREADABLE: {
    message: (e: { reason: string }) => `this is not a certificate: ${e.reason}`,
    hint: 'openssl x509 -in FILE -noout -text shows what the file holds.',
    means: 'A PEM file was expected to hold certificates (BEGIN CERTIFICATE) and nothing else that matters.',
    exit: exitCodes.badConfig,
  },
  REQUEST_UNREADABLE: {
    message: (e: { reason: string }) => `this is not a certificate signing request: ${e.reason}`,
    hint: 'openssl req -in FILE -noout -text -verify shows what the file holds.',
    means:
      'A signing request must be one PEM block of strict DER (RFC 2986). What two readers could read differently ' +
      'is refused before anybody judges it.',
    exit: exitCodes.other,
  },
  REQUEST_FORGED: {
    message: (e: { subject: string }) => `the signing request for ${e.subject} is not signed by the key it names`,
    hint: 'Do not approve it. A kubelet that restarts makes a fresh request by itself.',
    means: 'The requester did not prove that it holds the private key: somebody altered the request or copied the key.',
    exit: exitCodes.other,
  },
  NOT_A_SIGNER: {
    message: (e: { signer: string; reason: string }) => `${e.signer} cannot sign certificates: ${e.reason}`,
    hint: 'Key and certificate of a signer are made together; restore both files from the same copy.',
    means: 'A signer needs a CA certificate (basic constraints, keyCertSign) and the private key that belongs to it.',
    exit: exitCodes.badConfig,
  },
  SIGNER_EXPIRED: {
    message: (e: { signer: string; notAfter: string }) => `the signer ${e.signer} expired at ${e.notAfter}`,
    hint: 'Check the clock of this machine first (timedatectl). A signer that truly expired must be replaced.',
    means: 'Nothing that an expired signer signs would be believed, so nothing is signed.',
    exit: exitCodes.badConfig,
  },
  SIGNER_NOT_YET_VALID: {
    message: (e: { signer: string; notBefore: string; now: string }) =>
      `the signer ${e.signer} is valid from ${e.notBefore}, but this machine's clock says ${e.now}`,
    hint: 'Set the clock of this machine (timedatectl set-ntp true) and run the same command again.',
    means: 'Signers are backdated, so a clock before their first moment is wrong by more than the allowance.',
    exit: exitCodes.infrastructure,
  },
});
