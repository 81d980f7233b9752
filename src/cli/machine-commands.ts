// The verbs of the local platform.
import type { CommandSpec, OptionSpec } from './command.ts';

const clusterOption: OptionSpec = {
  flags: '--cluster <name>',
  description: 'which cluster on this host; by default the one of --dir, else "default"',
};

export const machineCommands: readonly CommandSpec[] = [
  {
    path: ['first-boot'],
    summary: 'Configure this machine from its Ignition config; run by firstlight-firstboot.service.',
    examples: ['firstlight first-boot'],
    isHidden: true,
    load: async () => (await import('./first-boot.ts')).firstBoot,
  },
];
