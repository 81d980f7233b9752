// `firstlight ipb watch`
import type { InPlaceView } from '../../cluster/in-place/observe-attempts.ts';
import type { WatchTarget } from '../../cluster/in-place/watch-attempts.ts';
import { waitOptions } from '../cluster/wait-options.ts';
import { cliErrors } from '../frame/errors.ts';
import { option, optionalArgument, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const inPlaceWatchVerb = defineVerb({
  description: [
    'Follows an attempt, a run of a pool, or without an argument everything that is under way, to the end, and shows every',
    'phase. The exit code says how it ended: 0 when all attempts succeeded, 7 when one did not. It changes nothing, and',
    'may be stopped and begun again.',
  ].join(' '),
  args: { node: optionalArgument('the newest attempt of this node') },
  options: { pool: option('--pool <name>', 'the newest run of this pool', text), ...waitOptions },
  examples: [
    'firstlight ipb watch worker-0',
    'firstlight ipb watch --pool worker',
    'firstlight ipb watch --timeout 600',
  ],
  run: async (invocation) => {
    const { host, global, signal, args, options } = invocation;
    if (args.node !== undefined && options.pool !== undefined) {
      throw cliErrors.USAGE({ reason: 'give a node, --pool, or neither', command: 'firstlight ipb watch' });
    }
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { findAttempts } = await import('../../cluster/in-place/observe-attempts.ts');
    const { followAttempts, followedResult } = await import('./follow-attempts.ts');
    await using client = await connectCluster(host, global.dir);
    const target = await watchTarget(await findAttempts({ host, client, signal }), args.node, options.pool);
    const about = args.node ?? (options.pool === undefined ? '' : `--pool ${options.pool}`);
    const command = `ipb watch ${about}`.trim();
    return followedResult(await followAttempts(invocation, { client, title: command, target, command }));
  },
});

async function watchTarget(
  { attempts, runs, waiting }: InPlaceView,
  node: string | undefined,
  pool: string | undefined,
): Promise<WatchTarget> {
  const { attemptErrors } = await import('../../cluster/in-place/errors.ts');
  if (pool !== undefined) {
    const own = runs.filter(({ spec }) => spec.pool === pool);
    const run = own.find(({ status }) => status.state === 'Running') ?? own.at(-1);
    if (run === undefined) throw attemptErrors.NO_ATTEMPT({ what: `of a run of pool ${pool}` });
    return { run: run.name };
  }
  const known = [...attempts, ...waiting].filter((one) => node === undefined || one.node === node);
  if (node !== undefined && known.length === 0) throw attemptErrors.NO_ATTEMPT({ what: `of ${node}` });
  const running = attempts.filter((attempt) => !attempt.isEnded);
  const nodes = node === undefined ? [...running, ...waiting].map((one) => one.node) : [node];
  if (nodes.length === 0) throw attemptErrors.NO_ATTEMPT({ what: 'under way' });
  return { nodes: new Map(nodes.map((name) => [name, undefined])) };
}
