// `firstlight machine exec`
import { argument, argumentList } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

export const machineExecVerb = defineVerb({
  description: 'Everything after -- is the command. Its exit code becomes ours; with -o json its output is captured.',
  args: { machine: argument('name of the machine'), command: argumentList('the command and its arguments') },
  options: { cluster: clusterOption },
  examples: ['firstlight machine exec a -- systemctl status', 'firstlight machine exec a -o json -- uname -a'],
  run: async (invocation) => {
    const { machine, command } = invocation.args;
    const { captureInside, runInside } = await import('./run-inside.ts');
    return invocation.global.output === 'text'
      ? runInside(invocation, machine, command)
      : captureInside(invocation, machine, command);
  },
});
