// How to run a command inside a machine: in all namespaces of its process 1, with nothing of our own environment.
// A command that runs must not keep the machine from going down.

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The command line that runs `command` inside the machine whose process 1 is `leader`. */
export function enterCommand(
  leader: number,
  command: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): readonly [string, ...string[]] {
  const settings = Object.entries({ HOME: '/root', LANG: 'C.UTF-8', ...variables }).map(
    ([key, value]) => `${key}=${value}`,
  );
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup'];
  const enter = ['--no-fork', '--target', String(leader), ...namespaces];
  return ['nsenter', ...enter, '--', 'env', '-i', path, ...settings, ...forkCommand, ...command];
}

/**
 * A shell outside the machine's pid namespace starts the command inside it and waits. nsenter could do so as well, but
 * it stops itself when its child is stopped, and a machine that goes down stops all its processes for a moment: nobody
 * wakes nsenter, the dead child is never collected, and the kernel keeps the pid namespace until it is.
 */
const forkCommand = ['sh', '-c', '"$@"; exit $?', 'sh'] as const;
