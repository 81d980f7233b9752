// `firstlight ipb start`
import { waitOptions } from '../cluster/wait-options.ts';
import { cliErrors } from '../frame/errors.ts';
import {
  flag,
  option,
  optionalArgument,
  optionWithDefault,
  positiveInteger,
  text,
  type ValuesOf,
} from '../frame/option.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';
import { attemptRequest, requestOptions } from './options.ts';

const startOptions = {
  pool: option('--pool <name>', 'all nodes of this pool, node after node; makes their Secrets too', text),
  maxConcurrent: optionWithDefault(
    '--max-concurrent <n>',
    'with --pool: how many nodes may be out of use at once; masters change one at a time',
    positiveInteger,
    1,
  ),
  wait: flag('--no-wait', 'return when it has begun'),
  ...requestOptions,
  ...waitOptions,
};
const command = 'firstlight ipb start';

export const inPlaceStartVerb = defineVerb({
  description: [
    'Brings a machine that already runs to the configuration of its pool, whatever its state, without making it anew.',
    'The node is cordoned, then labelled; a pod checks all that the change needs (P01 to P14) and changes nothing; the',
    'controller drains the node; the machine stops its kubelet, changes itself, reboots and joins again; labels and',
    'taints are restored and the cordon goes last. The command shows every phase and may be killed: run again, it goes on',
    'watching. Options about the Secret count with --pool only, since ipb prepare makes that of a single node.',
  ].join(' '),
  args: { node: optionalArgument('a node whose Secret ipb prepare has made') },
  options: startOptions,
  examples: [
    'firstlight ipb prepare worker-0 && firstlight ipb start worker-0',
    'firstlight ipb start worker-0 --no-wait',
    'firstlight ipb start --pool worker --max-concurrent 2',
  ],
  run: async (invocation) => {
    const { host, global, signal, args, options } = invocation;
    if ((args.node === undefined) === (options.pool === undefined)) {
      throw cliErrors.USAGE({ reason: 'give either a node or --pool', command });
    }
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    await using client = await connectCluster(host, global.dir);
    const call = { host, client, signal };
    return args.node === undefined
      ? await startPool(invocation, call, options.pool ?? '')
      : await startNode(invocation, call, args.node);
  },
});

type StartInvocation = Invocation<unknown, ValuesOf<typeof startOptions>>;
type StartCall = Parameters<typeof import('../../cluster/in-place/start-attempt.ts').startAttempt>[0];

async function startNode(invocation: StartInvocation, call: StartCall, node: string): Promise<CommandResult> {
  const { startAttempt } = await import('../../cluster/in-place/start-attempt.ts');
  const { followAttempts, followedResult } = await import('./follow-attempts.ts');
  const { shortAttempt } = await import('./attempt-text.ts');
  const started = await startAttempt(call, node);
  if (!invocation.options.wait) {
    const text = `${node} is cordoned and labelled; firstlight ipb watch ${node} follows it\n`;
    return { data: started, text };
  }
  const watched = await followAttempts(invocation, {
    client: call.client,
    title: `attempt ${shortAttempt(started.attemptId)} on ${node}`,
    target: { nodes: new Map([[node, started.attemptId]]) },
    command: `ipb watch ${node}`,
  });
  return followedResult(watched);
}

async function startPool(invocation: StartInvocation, call: StartCall, pool: string): Promise<CommandResult> {
  const { startRun } = await import('../../cluster/in-place/start-run.ts');
  const { followAttempts, followedResult } = await import('./follow-attempts.ts');
  const { host, options } = invocation;
  const request = await attemptRequest(host, options, { command, hoursDefault: 12 });
  const started = await startRun(call, pool, { ...request, maxConcurrent: options.maxConcurrent });
  if (!options.wait) {
    const text = `run ${started.run} has begun; firstlight ipb watch --pool ${pool} follows it\n`;
    return { data: started, text };
  }
  const watched = await followAttempts(invocation, {
    client: call.client,
    title: `run ${started.run}: ${started.nodes.length} nodes of pool ${pool}`,
    target: { run: started.run },
    command: `ipb watch --pool ${pool}`,
  });
  return followedResult(watched);
}
