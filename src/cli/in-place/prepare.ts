// `firstlight ipb prepare`
import { defineVerb } from '../frame/verb.ts';
import { attemptRequest, nodeArgument, requestOptions } from './options.ts';

export const inPlacePrepareVerb = defineVerb({
  description: [
    'Makes the Secret ipb-NODE in the namespace ipb-system, which one attempt of the in-place bootstrapper reads: where',
    'the machine gets its configuration, by which token, by whose authority the server is known, and until when the',
    'attempt may begin. By default it is the Ignition config of the pool of the node, from the config servers of the',
    'masters, with a token that was made for it. With --os rhel it is a payload of bash and ansible, made for this',
    'worker when it is asked for. Nothing begins yet: ipb start does that. A Secret that no attempt uses is replaced.',
  ].join(' '),
  args: { node: nodeArgument },
  options: requestOptions,
  examples: [
    'firstlight ipb prepare worker-0',
    'firstlight ipb prepare worker-0 --os rhel --region eu-1',
    'firstlight ipb prepare worker-0 --report-url https://report.example/v1 --report-token-file t --report-ca-file ca.crt',
  ],
  run: async ({ host, global, signal, args, options }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { prepareAttempt } = await import('../../cluster/in-place/prepare-attempt.ts');
    const request = await attemptRequest(host, options, { command: 'firstlight ipb prepare', hoursDefault: 2 });
    await using client = await connectCluster(host, global.dir);
    const prepared = await prepareAttempt({ host, client, signal }, args.node, request);
    const { node, attemptId, pool, target, secret, notAfter } = prepared;
    return {
      data: prepared,
      text: [
        `Secret ${secret} for attempt ${attemptId}`,
        `  brings  ${target} of pool ${pool}`,
        `  until   ${notAfter.replace(/\.\d+Z$/, 'Z')}`,
        `  next    firstlight ipb start ${node}`,
        '',
      ].join('\n'),
    };
  },
});
