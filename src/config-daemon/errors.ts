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
  NOT_POSSIBLE: {
    message: (e: { subject: string; reason: string }) =>
      `${e.subject} cannot be changed on a machine that exists: ${e.reason}`,
    hint: 'Leave it as it was, or make a new machine: firstlight node add, then firstlight node remove.',
    means: 'A config asks for something that only the first boot of a machine can make.',
    exit: exitCodes.badConfig,
  },
  LOCKED: {
    message: (e: { path: string }) => `another process changes the configuration of this machine (it holds ${e.path})`,
    hint: 'Wait until it has ended; fuser on that file names the process.',
    means: 'The agent and the completion of a first boot never change a machine at the same time.',
    exit: exitCodes.infrastructure,
  },
  SYSTEM: {
    message: (e: { command: string; reason: string }) => `${e.command} failed: ${e.reason || 'it gave no reason'}`,
    hint: 'Run that command on the machine; journalctl -b may say more.',
    means: 'A program of the operating system refused what a change of the configuration asked of it.',
    exit: exitCodes.infrastructure,
  },
  IN_THE_WAY: {
    message: (e: { path: string; found: string; wanted: string }) =>
      `${e.path} is a ${e.found} on this machine, and the config wants a ${e.wanted} there`,
    hint: 'Move it away on the machine, or choose another path in the MachineConfig.',
    means: 'A change never removes a folder, because nobody could say what else is in it.',
    exit: exitCodes.infrastructure,
  },
  NO_USER: {
    message: (e: { path: string; kind: 'user' | 'group'; name: string }) =>
      `${e.path} should belong to the ${e.kind} ${e.name}, which this machine does not have`,
    hint: 'Users and groups other than core are made at first boot; name one that the machine has.',
    means: 'A file of the config has an owner that is unknown on the machine.',
    exit: exitCodes.badConfig,
  },
  NOT_STAGED: {
    message: (e: { to: string; reason: string }) => `nothing was changed for ${e.to}: ${e.reason}`,
    hint: 'The daemon tries again by itself. Where the disk is full, make room on it.',
    means:
      'The new files of a change could not be made ready beside the old ones. The machine has its old config, whole.',
    exit: exitCodes.infrastructure,
  },
  NOT_APPLIED: {
    message: (e: { to: string; reason: string }) => `${e.to} could not be applied and was undone: ${e.reason}`,
    hint: 'Mend the MachineConfig, or roll the pool back with firstlight machine-config rollback POOL.',
    means: 'A change failed between its first and its last step. The machine has its old config again, whole.',
    exit: exitCodes.infrastructure,
  },
});
