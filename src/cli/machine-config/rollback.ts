// `firstlight machine-config rollback`
import { waitOptions } from '../cluster/wait-options.ts';
import { option, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { poolArgument, rollOutOptions } from './options.ts';

export const machineConfigRollbackVerb = defineVerb({
  description: [
    'Brings a pool back to the configuration that all of its nodes had before, or to the one named by --to. It says what',
    'will happen and asks, as apply does. The MachineConfigs stay as they are: the roll-back holds until they change, so',
    'mend or delete the one that was wrong, and the pool goes on with the others.',
  ].join(' '),
  args: { pool: poolArgument },
  options: {
    to: option('--to <name>', 'a configuration of machine-config history; its first digits are enough', text),
    ...rollOutOptions,
    ...waitOptions,
  },
  examples: [
    'firstlight machine-config rollback worker',
    'firstlight machine-config rollback worker --to rendered-worker-0123abcd --yes',
  ],
  run: async (invocation) => {
    const { host, global, signal, args, options } = invocation;
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { requestRollback } = await import('../../cluster/pools/change-pools.ts');
    const { readPlanFacts } = await import('../../cluster/pools/plan-facts.ts');
    const { planRollback } = await import('../../cluster/pools/plan-rollback.ts');
    const { generatedBy } = await import('../frame/program.ts');
    const { beginRollOut } = await import('./begin-roll-out.ts');
    const { poolPlanText } = await import('./plan-text.ts');
    await using client = await connectCluster(host, global.dir);
    const call = { host, client, signal };
    const facts = await readPlanFacts(call);
    const { plan, annotation } = planRollback(facts, { pool: args.pool, to: options.to, generatedBy });
    return await beginRollOut(invocation, {
      client,
      text: poolPlanText(plan),
      data: { pools: [plan] },
      question: `Roll ${args.pool} back?`,
      command: 'firstlight machine-config rollback',
      pools: [plan],
      carryOut: () => requestRollback(call, args.pool, annotation),
    });
  },
});
