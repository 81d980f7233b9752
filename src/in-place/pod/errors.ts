// Failures of the pod, which has changed nothing when one of them occurs.
import { exitCodes } from '../../errors/exit-codes.ts';
import { errorTable } from '../../errors/firstlight-error.ts';

export const inPlacePodErrors = errorTable('IPBPOD', {
  UNIT_FAILED: {
    message: (e: { unit: string; result: string }) => `${e.unit} on the host ended as ${e.result}`,
    hint: (e: { unit: string }) => `journalctl -u ${e.unit} on the machine says why.`,
    means: 'The pod of the in-place bootstrapper starts units of its host by D-Bus, and one of them did not end well.',
    exit: exitCodes.infrastructure,
  },
  NO_RESULT: {
    message: (e: { path: string }) => `${e.path} is not what a unit of the host should have written`,
    hint: 'The unit was started from another release than the pod, or was killed. The pod tries again.',
    means: 'The pod reads what the checks on its host have found from a file, and that file is missing or cut off.',
    exit: exitCodes.infrastructure,
  },
  NOT_POD: {
    message: (e: { missing: string }) => `this is not the pod of the in-place bootstrapper: ${e.missing} is missing`,
    hint: 'firstlight ipb start NODE lets the cluster start the pod; nobody starts it by hand.',
    means: 'The verb needs what the DaemonSet ipb-system/ipb gives its pods: the name of the node, facts and a token.',
    exit: exitCodes.badConfig,
  },
});
