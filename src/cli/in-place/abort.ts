// `firstlight ipb abort`
import { cliErrors } from '../frame/errors.ts';
import { option, optionalArgument, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const inPlaceAbortVerb = defineVerb({
  description: [
    'Ends an attempt while nothing of the machine is changed: up to the phase KubeletStopped, from which the machine starts',
    'its kubelet again. The node stays cordoned. A machine that changes already is finished or undone, and not ended half.',
    'With --pool no further node of the run begins, and those that can be ended are.',
  ].join(' '),
  args: { node: optionalArgument('whose attempt ends') },
  options: { pool: option('--pool <name>', 'whose run ends', text) },
  examples: ['firstlight ipb abort worker-0', 'firstlight ipb abort --pool worker'],
  run: async ({ host, global, signal, args, options }) => {
    if ((args.node === undefined) === (options.pool === undefined)) {
      throw cliErrors.USAGE({ reason: 'give either a node or --pool', command: 'firstlight ipb abort' });
    }
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { abortAttempt, abortRun } = await import('../../cluster/in-place/abort-attempts.ts');
    await using client = await connectCluster(host, global.dir);
    const call = { host, client, signal };
    if (args.node !== undefined) {
      const aborted = await abortAttempt(call, args.node);
      const text =
        aborted.attemptId === null
          ? `${args.node} is no longer labelled; nothing had begun there\n`
          : `${args.node} is told to end its attempt; it stays cordoned: firstlight kubectl uncordon ${args.node}\n`;
      return { data: aborted, text };
    }
    const { run, aborted, finishing } = await abortRun(call, options.pool ?? '');
    const lines = [
      `run ${run} is ended: no further node begins`,
      ...(aborted.length === 0 ? [] : [`told to end: ${aborted.join(', ')}`]),
      ...(finishing.length === 0 ? [] : [`finishes, because it changes already: ${finishing.join(', ')}`]),
    ];
    return { data: { run, aborted, finishing }, text: `${lines.join('\n')}\n` };
  },
});
