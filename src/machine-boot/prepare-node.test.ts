import { describe, expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { RunResult } from '../host/processes.ts';
import { hostsText, prepareNode } from './prepare-node.ts';

const answer = (stdout: unknown, code = 0): RunResult => ({
  code,
  signal: undefined,
  stdout: stdout === '' ? '' : JSON.stringify(stdout),
  stderr: code === 0 ? '' : 'no',
  timedOut: false,
});

/** A machine with one interface; every program that is run is written down. */
async function machine(address = '10.99.0.11') {
  const ran: string[] = [];
  const host = fakeHost({
    processes: {
      run: async (program, args) => {
        ran.push([program, ...args].join(' '));
        if (args.includes('address')) return answer([{ ifname: 'eth0', addr_info: [{ local: address }] }]);
        return answer(args.includes('-4') ? [{ dev: 'eth0' }] : '');
      },
    },
  });
  for (const folder of ['/etc/firstlight', '/proc/self', '/proc/sys/kernel']) await host.files.makeFolder(folder);
  await host.files.write('/proc/self/status', 'CapEff:\t000001fffeffffff\n');
  await host.files.write('/proc/sys/kernel/hostname', 'worker-7\n');
  await host.files.write('/etc/hosts', '127.0.0.1 localhost\n');
  await host.files.write(
    '/etc/firstlight/node.json',
    '{"apiServerUrl":"https://api-int.x:6443","machineNetworks":["10.99.0.0/24"]}',
  );
  return { host, ran };
}

describe('preparing a machine for its kubelet', () => {
  test('writes what it found below /run, its name into /etc/hosts, and applies the kernel settings', async () => {
    const { host, ran } = await machine();
    const { nodeName, nodeAddresses } = await prepareNode(host);
    expect([nodeName, nodeAddresses]).toEqual(['worker-7', ['10.99.0.11']]);
    expect(await host.files.readText('/run/firstlight/node.env')).toBe('NODE_NAME=worker-7\nNODE_IP=10.99.0.11\n');
    expect(await host.files.readText('/etc/hosts')).toContain('10.99.0.11 worker-7 ');
    expect(await host.files.readText('/run/firstlight/containerd/machine.toml')).toContain('restrict_oom_score_adj');
    expect(ran).toContain('/usr/lib/systemd/systemd-sysctl /etc/sysctl.d/90-firstlight.conf');
  });

  test('gives the same files when it runs again', async () => {
    const { host } = await machine();
    await prepareNode(host);
    const hosts = await host.files.readText('/etc/hosts');
    await prepareNode(host);
    expect(await host.files.readText('/etc/hosts')).toBe(hosts);
  });

  test('lets no kubelet start while the machine has no address of its network', async () => {
    const { host } = await machine('192.168.0.1');
    await expect(prepareNode(host)).rejects.toMatchObject({ code: 'NODE_NO_ADDRESS' });
    expect(await host.files.facts('/run/firstlight/node.env')).toBeUndefined();
  });

  test('names the file whose settings it cannot read', async () => {
    const { host } = await machine();
    await host.files.write('/etc/firstlight/node.json', '{"machineNetworks": ["nonsense"]}');
    await expect(prepareNode(host)).rejects.toMatchObject({
      code: 'NODE_SETTINGS',
      message: expect.stringContaining('/etc/firstlight/node.json: '),
    });
  });
});

describe('the own name in /etc/hosts', () => {
  const before = '127.0.0.1 localhost\n10.0.0.9 other # mine\n';
  const own = { name: 'master-0', addresses: ['10.99.0.11'] };

  test('is added once, however often', () => {
    const once = hostsText(before, own);
    expect(once).toBe(`${before}10.99.0.11 master-0 # this machine, by firstlight\n`);
    expect(hostsText(once, own)).toBe(once);
  });

  test('follows the machine and leaves other lines alone', () => {
    const moved = hostsText(hostsText(before, own), { name: 'm.example.com', addresses: ['10.99.0.12', 'fd00::12'] });
    expect(moved).toBe(
      `${before}10.99.0.12 m.example.com m # this machine, by firstlight\nfd00::12 m.example.com m # this machine, by firstlight\n`,
    );
  });
});
