// `firstlight ssh`
import { argument, option, optionalArgumentList, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from '../machine/options.ts';

/** What ssh itself ends with when it cannot connect or log in. */
const sshFailure = 255;

export const sshVerb = defineVerb({
  description:
    'Logs in on a machine as `core`, who may sudo, with the ssh program of this host: through the network of the cluster, with a host key that is read from the machine itself. Who may log in is said by sshKey of the install-config; ssh uses your keys as always. Everything after -- is a command for the shell of the machine, as with ssh itself, and its exit code becomes ours.',
  args: {
    machine: argument('name of the machine; core@NAME is the same'),
    command: optionalArgumentList('a command to run instead of a shell'),
  },
  options: {
    identity: option('-i, --identity <file>', 'the private key; otherwise what ssh itself would use', text),
    cluster: clusterOption,
  },
  examples: [
    'firstlight ssh bootstrap',
    'firstlight ssh bootstrap -- crictl logs etcd-bootstrap',
    'firstlight ssh core@master-0 -i ~/.ssh/id_ed25519 -- etcdctl member list',
  ],
  run: async (invocation) => {
    const { host, args, options, signal, emit } = invocation;
    const { runningMachine, sshAccess } = await import('./chosen-access.ts');
    const { sshArguments, sshSettings } = await import('../../platform/ssh-access.ts');
    const [first = '', machineOfUser] = args.machine.split('@');
    const [user, name] = machineOfUser === undefined ? ['core', first] : [first, machineOfUser];
    const settings = sshSettings(await sshAccess(invocation, await runningMachine(invocation, name)));
    const key = options.identity === undefined ? [] : ['-i', typedPath(host, options.identity)];
    const command = args.command.length === 0 ? [] : ['--', ...args.command];
    const words = [...key, ...sshArguments({ ...settings, User: user }), name, ...command];
    const { code } = await host.processes.runInteractive('ssh', words, { signal });
    if (code === sshFailure && options.identity === undefined) {
      const known = 'Only keys that sshKey of the install-config names may log in; -i FILE shows another one.';
      emit({ kind: 'notice', level: 'info', text: known });
    }
    return { data: { code: code ?? null }, text: '', exit: code ?? 1 };
  },
});
