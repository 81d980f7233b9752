// What keeps the config server from starting. A problem while it serves is an answer, not an error: answers.ts.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const configServerErrors = errorTable('CONFIGSERVER', {
  PAIR: {
    message: (e: { certificatePath: string; keyPath: string; reason: string }) =>
      `cannot serve with ${e.certificatePath} and ${e.keyPath}: ${e.reason}`,
    hint: 'Both come from one command, firstlight create ignition-configs; copy both of them, from the same run.',
    means:
      'The config server needs a certificate and the key that belongs to it before it can answer anybody. A pair that ' +
      'turns bad while it serves is logged and the one in use is kept.',
    exit: exitCodes.badConfig,
  },
  NO_API_ACCESS: {
    message: (e: { path: string; reason: string }) => `cannot ask the API for configurations: ${e.path} ${e.reason}`,
    hint: 'As cluster it runs on a master, with the settings and the agent certificate of that machine; elsewhere give --api-kubeconfig FILE.',
    means:
      'The config server of a master asks the API as the agent of its machine. Where the API is, or the certificate of the agent, is not known yet.',
    exit: exitCodes.infrastructure,
  },
});
