import { describe, expect, test } from 'vitest';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import { prepareHost } from './prepare-host.ts';

const context = { emit: () => {}, signal: new AbortController().signal };

interface Scripted {
  readonly host: FakeHost;
  readonly commands: string[];
}

/** A small Debian; `apt-get install` brings haproxy unless it is told to fail. */
async function debian({
  uid = 0,
  installs = true,
}: {
  readonly uid?: number;
  readonly installs?: boolean;
}): Promise<Scripted> {
  const commands: string[] = [];
  let hasHaproxy = false;
  const host = fakeHost({
    environment: { uid },
    processes: {
      find: async (program) => (program === 'haproxy' && !hasHaproxy ? undefined : `/usr/bin/${program}`),
      run: async (program, args) => {
        commands.push([program, ...args].join(' '));
        hasHaproxy ||= installs && args[0] === 'install';
        const stderr = installs ? '' : 'E: Unable to locate package haproxy\n';
        return { code: installs ? 0 : 100, signal: undefined, stdout: '', stderr, timedOut: false };
      },
    },
  });
  const files: Readonly<Record<string, string>> = {
    '/proc/self/mountinfo': '21 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 21 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n',
    '/proc/self/status': 'CapEff:\t000001ffffffffff\n',
    '/proc/filesystems': 'nodev\toverlay\n',
    '/sys/fs/cgroup/cgroup.controllers': 'cpu memory pids\n',
  };
  for (const [path, text] of Object.entries(files)) {
    await host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
    await host.files.write(path, text);
  }
  return { host, commands };
}

describe('preparing a host', () => {
  test('installs what is missing and then has a plan', async () => {
    const { host, commands } = await debian({});
    await expect(prepareHost(host, context, 0)).resolves.toMatchObject({ cgroup: { kind: 'own', version: 2 } });
    expect(commands).toEqual(['apt-get install --yes --no-install-recommends haproxy']);
  });

  test('refreshes the lists of packages once, and says so when a package cannot be had', async () => {
    const { host, commands } = await debian({ installs: false });
    await expect(prepareHost(host, context, 0)).rejects.toMatchObject({
      code: 'PLATFORM_PACKAGES',
      message: 'cannot install haproxy: E: Unable to locate package haproxy',
    });
    expect(commands.map((command) => command.split(' ')[1])).toEqual(['install', 'update', 'install']);
  });

  test('touches nothing for somebody who is not root', async () => {
    const { host, commands } = await debian({ uid: 1000 });
    await expect(prepareHost(host, context, 0)).rejects.toMatchObject({
      code: 'PLATFORM_HOST_UNFIT',
      message: expect.stringContaining('you are not root') as string,
      hint: expect.stringContaining('sudo') as string,
    });
    expect(commands).toEqual([]);
  });
});
