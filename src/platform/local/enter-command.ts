// How to run a command inside a machine: in all namespaces of its process 1, with nothing of our own environment.
// A command that runs must not keep the machine from going down, and no other process may be taken for the machine.
import type { OwnProcess } from './own-process.ts';

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const namespaces = ['mnt', 'uts', 'ipc', 'net', 'pid', 'cgroup'];
const options = namespaces.map((name) => `--${name === 'mnt' ? 'mount' : name}=ns/${name}`).join(' ');

/**
 * The folder of a process in /proc stays that of this process: once it is the working folder, a process that gets the
 * same pid later cannot be reached through it. So the start time is compared there, and nsenter opens the namespaces
 * from there.
 */
const enterScript = `gone() { echo 'the machine has ended' >&2; exit 1; }
cd "/proc/$1" 2>/dev/null || gone
stat=$(cat stat 2>/dev/null) || gone
[ "$(set -f; set -- \${stat##*) }; echo "\${20}")" = "$2" ] || gone
shift 2
exec nsenter --no-fork ${options} -- "$@"`;

/** The command line that runs `command` inside the machine whose process 1 is `leader`. */
export function enterCommand(
  { pid, startTime }: OwnProcess,
  command: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): readonly [string, ...string[]] {
  const settings = Object.entries({ HOME: '/root', LANG: 'C.UTF-8', ...variables }).map(
    ([key, value]) => `${key}=${value}`,
  );
  const enter = ['sh', '-c', enterScript, 'sh', String(pid), startTime] as const;
  return [...enter, 'env', '-i', path, ...settings, ...forkCommand, ...command];
}

/**
 * A shell outside the machine's pid namespace starts the command inside it and waits. nsenter could do so as well, but
 * it stops itself when its child is stopped, and a machine that goes down stops all its processes for a moment: nobody
 * wakes nsenter, the dead child is never collected, and the kernel keeps the pid namespace until it is.
 */
const forkCommand = ['sh', '-c', '"$@"; exit $?', 'sh'] as const;
