// What the exit codes mean, for --help and the docs.
import { exitCodes } from '../../errors/exit-codes.ts';

export const exitCodeHelp: readonly (readonly [number, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.other, 'an error that is none of those below'],
  [exitCodes.usage, 'the command line is wrong'],
  [exitCodes.badConfig, 'the install-config or an asset is wrong'],
  [exitCodes.infrastructure, 'the machine, the disk or the network refused'],
  [exitCodes.bootstrapFailed, 'the bootstrap failed'],
  [exitCodes.installFailed, 'the installation failed'],
  [exitCodes.notStable, 'the cluster is not stable'],
  [exitCodes.interrupted, 'interrupted; the same command continues'],
];
