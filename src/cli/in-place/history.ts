// `firstlight ipb history`
import { optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const inPlaceHistoryVerb = defineVerb({
  description: [
    'Lists the attempts of the cluster or of one node, the newest first: when each began, how long it took, how it ended,',
    'and where its time went or why it failed. -o json has every phase with its time, and the checks that failed.',
  ].join(' '),
  args: { node: optionalArgument('only this node') },
  examples: ['firstlight ipb history', 'firstlight ipb history worker-0 -o json'],
  run: async ({ host, global, signal, args }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { findAttempts } = await import('../../cluster/in-place/observe-attempts.ts');
    const { byStart } = await import('../../in-place/attempt-view.ts');
    const { attemptHistoryText } = await import('./attempt-text.ts');
    await using client = await connectCluster(host, global.dir);
    const { attempts } = await findAttempts({ host, client, signal });
    const own = attempts.filter(({ node }) => args.node === undefined || node === args.node);
    return { data: { attempts: byStart(own).toReversed() }, text: attemptHistoryText(own) };
  },
});
