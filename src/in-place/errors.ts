// What can go wrong while a machine is made a member in place. Messages become the reason of a failed attempt.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const inPlaceErrors = errorTable('INPLACE', {
  BUSY: {
    message: (e: { attempt: string; reason: string }) =>
      `attempt ${e.attempt} cannot begin on this machine: ${e.reason}`,
    hint: 'firstlight ipb status NODE shows the other attempt; wait for its end.',
    means: 'There is one attempt at a time on a machine, and a second one begins only when the first has ended.',
    exit: exitCodes.infrastructure,
  },
  SETTINGS: {
    message: (e: { path: string; reason: string }) => `${e.path} cannot be used: ${e.reason}`,
    hint: 'Start again: a new attempt-id in the Secret of the node makes the pod write the file anew.',
    means: 'The unit on the host needs the file that the pod or the workstation wrote for its attempt.',
    exit: exitCodes.infrastructure,
  },
  PAYLOAD_UNAVAILABLE: {
    message: (e: { url: string; reason: string }) => `GET ${e.url}: ${e.reason}`,
    hint: 'It is tried again. Check that the machine reaches that server and that its certificate is of the given authority.',
    means: 'The server of the configuration did not answer, or not now.',
    exit: exitCodes.infrastructure,
  },
  PAYLOAD_REFUSED: {
    message: (e: { url: string; status: number }) => `GET ${e.url} was answered with ${e.status}`,
    hint: 'The token of the Secret has ended or is of another pool: firstlight ipb prepare NODE makes a new one.',
    means: 'The server of the configuration answers and does not accept what the Secret of the node has.',
    exit: exitCodes.infrastructure,
  },
  PAYLOAD_UNUSABLE: {
    message: (e: { source: string; reason: string }) => `what ${e.source} gave cannot be used: ${e.reason}`,
    hint: 'Ask that URL with curl and look at what it gives; a config server of a cluster gives all that is needed.',
    means: 'The configuration that was downloaded lacks something that a member of the cluster must have.',
    exit: exitCodes.badConfig,
  },
  NO_PROGRAM: {
    message: (e: { path: string }) => `there is no ${e.path}`,
    hint: 'The image must be the image firstlight of a release; firstlight release info names it.',
    means: 'A program was to be copied from an image or a machine that does not have it.',
    exit: exitCodes.infrastructure,
  },
  NOT_FLUSHED: {
    message: (e: { folder: string; reason: string }) => `${e.folder} could not be brought to the disk: ${e.reason}`,
    hint: 'dmesg on the machine says what is wrong with its disk.',
    means: 'The program of an attempt must survive a power failure before the machine is changed by it.',
    exit: exitCodes.infrastructure,
  },
  DAEMON: {
    message: (e: { image: string; reason: string }) => `the daemon of ${e.image} could not be taken: ${e.reason}`,
    hint: 'It is tried again. ctr -n k8s.io images pull REFERENCE on the machine says more.',
    means: 'The new configuration belongs to another release, whose daemon has to apply it.',
    exit: exitCodes.infrastructure,
  },
});
