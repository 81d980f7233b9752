// Errors about files that one program writes and another reads. Each error keeps the code prefix of the program that
// was the first to read the file, because a released code never changes.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const nodeSettingsErrors = errorTable('NODE', {
  SETTINGS: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'The file is part of the MachineConfig 00-<pool>; firstlight machine-config explain shows who else writes it.',
    means: 'The settings that every machine of a pool is given for its preparation could not be read.',
    exit: exitCodes.badConfig,
  },
});

export const releaseFactsErrors = errorTable('AGENT', {
  RELEASE: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'The file is part of the machine image; make the machine from a complete release (firstlight release verify).',
    means: 'The images of the control plane are named by the release that the machine was made from.',
    exit: exitCodes.infrastructure,
  },
});

export const configServerSettingsErrors = errorTable('CONFIGSERVER', {
  SETTINGS: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'The file is JSON: {"access": "token", "balancers": ["192.0.2.1"]}; both may be left out.',
    means: 'The settings of the config server could not be read, and guessing who is trusted would be wrong.',
    exit: exitCodes.badConfig,
  },
});

export const servedTokensErrors = errorTable('CONFIGSERVER', {
  LEDGER: {
    message: (e: { path: string; line: number }) => `${e.path}: line ${e.line} is not a record of ours`,
    hint: (e: { path: string }) =>
      `Move ${e.path} away to start anew: machines that were served and have not joined yet must fetch their configuration again.`,
    means:
      'The record of served tokens was altered or the disk is damaged. A torn last line is normal after a crash and is ' +
      'dropped; anywhere else a missing record could let somebody use a token twice.',
    exit: exitCodes.infrastructure,
  },
});

export const clusterMetadataErrors = errorTable('CLUSTER', {
  METADATA: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'Remove the file and run firstlight create ignition-configs: the file is written again as it was.',
    means: 'Which cluster the folder is about stands in this file, and it could not be read.',
    exit: exitCodes.badConfig,
  },
});

export const etcdRestoreErrors = errorTable('BOOTKUBE', {
  RESTORE_FILE: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'firstlight restore writes it. Destroy this bootstrap machine and run the same command again.',
    means:
      'This machine is to bring a cluster back, and cannot read from which snapshot. It starts no etcd: an empty one would be another cluster.',
    exit: exitCodes.bootstrapFailed,
  },
});
