// `firstlight ipb adopt`
import { waitOptions } from '../cluster/wait-options.ts';
import { cliErrors } from '../frame/errors.ts';
import { argument, flag, option, optionWithDefault, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { attemptRequest, requestOptions } from './options.ts';

const command = 'firstlight ipb adopt';

export const inPlaceAdoptVerb = defineVerb({
  description: [
    'Makes a machine that already runs, and that never belonged to the cluster, a worker of it, by SSH. The machine is added',
    'to the machines that may join; this program is copied to it with its own runtime and libraries, so that nothing must',
    'be installed there; it runs the same checks as on a node (P01 to P14) and changes nothing while one of them fails.',
    'Then the machine changes itself, reboots and joins. Log in as root, or as a user who may sudo without a password.',
    'A node whose kubelet is silent starts no pod: it is brought in the same way, with its labels and taints as any node.',
    'Run again after it was killed, the command goes on.',
  ].join(' '),
  args: { name: argument('the name of the new node, or of a node whose kubelet is silent') },
  options: {
    address: option('--address <address>', 'of the machine in the machine network', text),
    user: optionWithDefault('--user <name>', 'who logs in', text, 'core'),
    sshKey: option('--ssh-key <file>', 'the private key; otherwise what ssh itself would use', text),
    pool: optionWithDefault('--pool <name>', 'the MachineConfigPool that a new node joins', text, 'worker'),
    wait: flag('--no-wait', 'return when the machine works on it'),
    ...requestOptions,
    ...waitOptions,
  },
  examples: [
    'firstlight ipb adopt worker-7 --address 10.99.0.37 --ssh-key ~/.ssh/id_ed25519',
    'firstlight ipb adopt worker-7 --address 10.99.0.37 --user root --pool infra',
    'firstlight ipb adopt worker-0 --address 10.99.0.21',
  ],
  run: async (invocation) => {
    const { host, global, signal, args, options, emit } = invocation;
    const { address, user, sshKey, pool } = options;
    if (address === undefined) throw cliErrors.USAGE({ reason: '--address is missing', command });
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { adoptMachine } = await import('../../cluster/in-place/adopt-machine.ts');
    const { followAttempts, followedResult } = await import('./follow-attempts.ts');
    const { shortAttempt } = await import('./attempt-text.ts');
    const request = await attemptRequest(host, options, { command, hoursDefault: 2 });
    await using client = await connectCluster(host, global.dir);
    const adopted = await adoptMachine({
      host,
      dir: global.dir,
      client,
      signal,
      name: args.name,
      address,
      user,
      keyFile: sshKey === undefined ? undefined : typedPath(host, sshKey),
      pool,
      request,
      onStep: (step) => emit({ kind: 'notice', level: 'info', text: step }),
    });
    if (!options.wait) {
      return { data: adopted, text: `${args.name} works on it; firstlight ipb watch ${args.name} follows it\n` };
    }
    const watched = await followAttempts(invocation, {
      client,
      title: `adoption of ${args.name} (${shortAttempt(adopted.attemptId)})`,
      target: { nodes: new Map([[args.name, adopted.attemptId]]) },
      command: `ipb watch ${args.name}`,
    });
    return followedResult(watched);
  },
});
