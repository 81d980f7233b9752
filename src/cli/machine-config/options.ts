// Options, arguments and words that several machine-config verbs share.
import { argument, flag, repeatableOption, text } from '../frame/option.ts';

export const fromOption = repeatableOption(
  '--from <folder>',
  "folder or file with MachineConfig YAML, instead of the asset folder's manifests",
  text,
);

export const poolArgument = argument('master, worker or a pool of your own');

export const readsFolders =
  'Reads every MachineConfig, MachineConfigPool and ControllerConfig in the folders. With a ControllerConfig (firstlight create manifests writes one) the built-in MachineConfigs of the cluster are part of it.';

/** Of verbs that change machines. */
export const rollOutOptions = {
  yes: flag('--yes', 'do not ask'),
  dryRun: flag('--dry-run', 'only say what would happen'),
  wait: flag('--no-wait', 'return when the roll-out has begun'),
};
