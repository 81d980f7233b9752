// `firstlight ssh-host-keys`: the KnownHostsCommand of ssh.
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from '../machine/options.ts';

export const sshHostKeysVerb = defineVerb({
  args: { machine: argument('name of the machine'), name: argument('the name that ssh looks for') },
  options: { cluster: clusterOption },
  examples: ['firstlight ssh-host-keys --cluster demo bootstrap bootstrap'],
  run: async (invocation) => {
    const { chosenCluster } = await import('../machine/chosen-machines.ts');
    const { knownHostLines } = await import('../../platform/ssh-access.ts');
    const { platform, cluster } = await chosenCluster(invocation);
    const { machine, name } = invocation.args;
    const lines = await knownHostLines(platform.filesOf({ cluster, machine }), name);
    return { data: lines, text: lines.map((line) => `${line}\n`).join('') };
  },
});
