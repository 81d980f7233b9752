// `firstlight ipb status`
import { optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const inPlaceStatusVerb = defineVerb({
  description: [
    'Shows the newest attempt of each node: its phase, how long it takes, what it waits for, and why it ended; the runs',
    'of pools that are under way; and nodes that are labelled although nothing can begin there, with what is missing:',
    'the cordon, the Secret, a new attempt-id.',
  ].join(' '),
  args: { node: optionalArgument('only this node') },
  examples: ['firstlight ipb status', 'firstlight ipb status worker-0 -o json'],
  run: async ({ host, global, signal, args }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { findAttempts } = await import('../../cluster/in-place/observe-attempts.ts');
    const { newestOfEachNode } = await import('../../in-place/attempt-view.ts');
    const { attemptsText } = await import('./attempt-text.ts');
    await using client = await connectCluster(host, global.dir);
    const seen = await findAttempts({ host, client, signal });
    const isAsked = ({ node }: { readonly node: string }): boolean => args.node === undefined || node === args.node;
    const attempts = newestOfEachNode(seen.attempts).filter(isAsked);
    const waiting = seen.waiting.filter(isAsked);
    const runs = seen.runs.filter(({ status }) => status.state === 'Running');
    return {
      data: { attempts, waiting, runs },
      text: attemptsText({ attempts, waiting, runs, now: host.clock.now() }),
    };
  },
});
