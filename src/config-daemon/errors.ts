// What can go wrong when a machine gets another config. The messages become the reason on the Node.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const configDaemonErrors = errorTable('CONFIGDAEMON', {
  UNREADABLE: {
    message: (e: { source: string; reason: string }) => `${e.source} is no MachineConfig: ${e.reason}`,
    hint: 'The file is written by Firstlight alone; compare it with the rendered MachineConfig of that name in the API.',
    means: 'A MachineConfig on the disk of a machine, or one that it got from the API, could not be used.',
    exit: exitCodes.badConfig,
  },
  NOT_STAGED: {
    message: (e: { to: string; reason: string }) => `nothing was changed for ${e.to}: ${e.reason}`,
    hint: 'The daemon tries again by itself. Where the disk is full, make room on it.',
    means:
      'The new files of a change could not be made ready beside the old ones. The machine has its old config, whole.',
    exit: exitCodes.infrastructure,
  },
  SYSTEMCTL: {
    message: (e: { args: string; reason: string }) => `systemctl ${e.args} failed: ${e.reason || 'it gave no reason'}`,
    hint: 'journalctl -u UNIT on the machine shows why the unit did not start.',
    means: 'systemd refused to reload or restart a unit after the files of a machine had changed.',
    exit: exitCodes.infrastructure,
  },
  NOT_APPLIED: {
    message: (e: { to: string; reason: string }) => `${e.to} could not be applied and was undone: ${e.reason}`,
    hint: 'Mend the MachineConfig, or roll the pool back with firstlight machine-config rollback POOL.',
    means: 'A change failed between its first and its last step. The machine has its old config again, whole.',
    exit: exitCodes.infrastructure,
  },
});
