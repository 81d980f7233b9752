// Options and arguments that several machine verbs share.
import { flag, option, optionalArgumentList, optionWithDefault, positiveNumber, text } from '../frame/option.ts';

export const clusterOption = option(
  '--cluster <name>',
  'which cluster on this host (default: that of --dir, else "default")',
  text,
);

export const bootOptions = {
  wait: flag('--no-wait', 'return when the machines are started, not when they have booted'),
  timeout: optionWithDefault('--timeout <seconds>', 'how long to wait', positiveNumber, 120),
};

export const allMachinesOption = flag('--all', 'every machine of the cluster');

export const machineNames = optionalArgumentList('names of machines');
