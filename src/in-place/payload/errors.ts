// What can go wrong with a payload, on the server that makes it and on the machine that runs it.
import { exitCodes } from '../../errors/exit-codes.ts';
import { errorTable } from '../../errors/firstlight-error.ts';

export const payloadErrors = errorTable('PAYLOAD', {
  NOT_EXPRESSIBLE: {
    message: (e: { config: string; subject: string; reason: string }) =>
      `${e.config} cannot be put into a payload: ${e.subject} ${e.reason}`,
    hint: 'Give the file its contents in the MachineConfig itself, or take the route by an Ignition config.',
    means: 'A payload carries every byte that it puts in place; it fetches nothing but packages.',
    exit: exitCodes.badConfig,
  },
  DOWNLOAD: {
    message: (e: { url: string; status: number }) => `GET ${e.url}: the answer is ${e.status}`,
    hint: 'Token and ids are in the Secret of the node; firstlight ipb prepare NODE makes it anew.',
    means: 'The payload of this machine could not be downloaded. Nothing was changed.',
    exit: exitCodes.infrastructure,
  },
  REFUSED: {
    message: (e: { source: string; reason: string }) => `${e.source} is refused: ${e.reason}`,
    hint: 'Have it made anew for this worker, by the service that the Secret names.',
    means: 'A payload is run as root: it must be signed, complete, and made for this worker. Nothing was changed.',
    exit: exitCodes.badConfig,
  },
  IN_THE_WAY: {
    message: (e: { path: string; found: string }) => `${e.path} is a ${e.found} on this machine, and a file goes there`,
    hint: 'Move it away on the machine, then start a new attempt.',
    means: 'A payload never removes a folder, because nobody could say what else is in it. Nothing was changed.',
    exit: exitCodes.infrastructure,
  },
  DAMAGED: {
    message: (e: { path: string }) => `${e.path} is not as the signed manifest says`,
    hint: 'Something on the machine changed the payload after it was verified. Start a new attempt.',
    means: 'The files of a payload are compared with its signed manifest before every stage.',
    exit: exitCodes.infrastructure,
  },
});
