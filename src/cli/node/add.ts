// `firstlight node add`
import { waitLimits, waitOptions } from '../cluster/wait-options.ts';
import { argumentList, flag, option, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const nodeAddVerb = defineVerb({
  args: { names: argumentList('of new workers, or of masters without a machine') },
  options: {
    pool: option('--pool <name>', 'the MachineConfigPool that they join; worker if not given', text),
    wait: flag('--no-wait', 'return when the machines are started'),
    ...waitOptions,
  },
  examples: [
    'firstlight node add worker-1',
    'firstlight node add worker-1 worker-2 --no-wait',
    'firstlight node add infra-0 --pool infra',
  ],
  run: async (invocation) => {
    const { args, global, options } = invocation;
    const { addNodes } = await import('../../cluster/change-nodes.ts');
    const patience = options.wait ? waitLimits(invocation) : undefined;
    const names = [...new Set(args.names)];
    const added = await addNodes({ ...invocation, dir: global.dir, names, pool: options.pool, patience });
    const list = added.map(({ name, addresses }) => `${name} (${addresses.join(', ')})`).join(', ');
    return { data: { added, isReady: options.wait }, text: `${list} ${options.wait ? 'Ready' : 'started'}\n` };
  },
});
