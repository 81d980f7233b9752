// `firstlight ssh-config`
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from '../machine/options.ts';

export const sshConfigVerb = defineVerb({
  description:
    'What your own ssh needs to reach the machines of a cluster: `ssh core@bootstrap`, scp and rsync then work, by name, full name or address. Keep it in a file and include that in ~/.ssh/config. Commands must be run as whoever may enter the network of the cluster: root, on platform local.',
  options: { cluster: clusterOption },
  examples: [
    'firstlight ssh-config --dir lab > ~/.ssh/lab.config',
    "echo 'Include lab.config' | cat - ~/.ssh/config > new && mv new ~/.ssh/config",
    'ssh -F ~/.ssh/lab.config core@bootstrap journalctl -b -u bootkube.service',
  ],
  run: async (invocation) => {
    const { chosenCluster } = await import('../machine/chosen-machines.ts');
    const { sshAccess } = await import('./chosen-access.ts');
    const { sshConfigText, sshSettings } = await import('../../platform/ssh-access.ts');
    const { platform, cluster } = await chosenCluster(invocation);
    const domain = (await platform.findCluster(cluster))?.domain;
    const machines = await platform.listMachines(cluster);
    const blocks = await Promise.all(
      machines.map(async (machine) => {
        const names = [machine.name, ...(domain === undefined ? [] : [`${machine.name}.${domain}`]), machine.address];
        const settings = sshSettings(await sshAccess(invocation, machine));
        return { names, settings, text: sshConfigText(names, settings) };
      }),
    );
    return {
      data: blocks.map(({ names, settings }) => ({ names, settings })),
      text: [`# The machines of cluster ${cluster}.\n`, ...blocks.map(({ text }) => text)].join('\n'),
      isContent: true,
    };
  },
});
