// How to run a command inside a machine: in all namespaces of its process 1, with nothing of our own environment.

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
  return ['nsenter', '--target', String(leader), ...namespaces, '--', 'env', '-i', path, ...settings, ...command];
}
