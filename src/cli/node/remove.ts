// `firstlight node remove`
import { argument, flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const nodeRemoveVerb = defineVerb({
  args: { name: argument('name of the worker') },
  options: { force: flag('--force', 'also where its pods cannot be moved in time') },
  examples: ['firstlight node remove worker-1'],
  run: async (invocation) => {
    const { args, global, options } = invocation;
    const { removeNode } = await import('../../cluster/change-nodes.ts');
    await removeNode({ ...invocation, dir: global.dir, name: args.name, isForced: options.force });
    return { data: { removed: args.name }, text: `removed ${args.name}\n` };
  },
});
