// What can keep a machine from running a control plane.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const controlPlaneErrors = errorTable('CONTROLPLANE', {
  SIGNER_MISSING: {
    message: (e: { file: string }) => `${e.file} is not here, so this machine cannot sign its own certificates`,
    hint: 'A master gets the signers from /keys/master once; firstlight machine logs shows why it did not.',
    means: 'Every control-plane machine signs its own leaves with the signers it was given. One of them is missing.',
    exit: exitCodes.bootstrapFailed,
  },
  CRICTL: {
    message: (e: { verb: string; reason: string }) => `crictl ${e.verb} failed: ${e.reason || 'it gave no reason'}`,
    hint: 'Run crictl ps on the machine; journalctl -u containerd shows what containerd says.',
    means: 'containerd was asked for the containers of the control plane, or to stop one of them, and did not do it.',
    exit: exitCodes.infrastructure,
  },
});
