import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runtimePaths } from '../contract/machine-paths.ts';
import { nodePreparationErrors } from './errors.ts';
import { nodePreparation } from './node-preparation.ts';
import type { MachineFacts } from './observe-machine.ts';
import { holdsSysResource, readAddresses } from './observe-machine.ts';

const metal: MachineFacts = {
  hostname: 'master-0',
  addresses: [{ interface: 'eth0', address: '10.99.0.11' }],
  defaultInterface: 'eth0',
  cgroupVersion: 2,
  isContainer: false,
  hasSysResource: true,
  hasResolved: false,
  hasLogind: true,
  hasKernelDefaults: true,
};
const networks = { machineNetworks: ['10.99.0.0/24'] };

function fileOf(facts: MachineFacts, path: string, settings = networks): string {
  return nodePreparation(facts, settings).files.find((file) => file.path === path)?.text ?? '';
}

/** Per cent of a disk that is the host's would say nothing. */
const onSharedDisk = {
  evictionHard: expect.objectContaining({ 'nodefs.available': '512Mi', 'imagefs.available': '512Mi' }),
  imageGCHighThresholdPercent: 97,
  imageGCLowThresholdPercent: 95,
};

describe('what follows from what a machine is', () => {
  test.each<[string, Partial<MachineFacts>, string, boolean, object]>([
    [
      'a machine of its own',
      {},
      'true',
      false,
      { cgroupDriver: 'systemd', shutdownGracePeriod: '20s', shutdownGracePeriodCriticalPods: '15s' },
    ],
    ['no logind', { hasLogind: false }, 'true', false, { cgroupDriver: 'systemd' }],
    [
      'an old machine with cgroup v1',
      { cgroupVersion: 1, hasLogind: false },
      'true',
      false,
      { cgroupDriver: 'systemd', failCgroupV1: false },
    ],
    [
      'a container on cgroup v1 without CAP_SYS_RESOURCE',
      { cgroupVersion: 1, isContainer: true, hasSysResource: false },
      'false',
      true,
      { cgroupDriver: 'cgroupfs', failCgroupV1: false, ...onSharedDisk },
    ],
    ['a container on cgroup v2', { isContainer: true }, 'true', false, { cgroupDriver: 'systemd', ...onSharedDisk }],
    [
      'a kernel whose settings are not those of the kubelet',
      { hasKernelDefaults: false, hasLogind: false },
      'true',
      false,
      { cgroupDriver: 'systemd', protectKernelDefaults: false },
    ],
    [
      'systemd-resolved',
      { hasResolved: true, hasLogind: false },
      'true',
      false,
      { cgroupDriver: 'systemd', resolvConf: '/run/systemd/resolve/resolv.conf' },
    ],
  ])('%s', (_, facts, systemdCgroup, restricts, kubelet) => {
    const machine = { ...metal, ...facts };
    const toml = fileOf(machine, runtimePaths.containerdConfig);
    expect(toml).toContain(`SystemdCgroup = ${systemdCgroup}\n`);
    expect(toml.includes('restrict_oom_score_adj = true')).toBe(restricts);
    expect(parseYaml(fileOf(machine, runtimePaths.kubeletConfig))).toEqual({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      protectKernelDefaults: true,
      ...kubelet,
    });
  });

  test('the file that lets the kubelet start is written last', () => {
    expect(nodePreparation(metal, networks).files.at(-1)).toEqual({
      path: '/run/firstlight/node.env',
      text: 'NODE_NAME=master-0\nNODE_IP=10.99.0.11\n',
    });
  });
});

describe('the address of a node', () => {
  const several = [
    { interface: 'eth1', address: '192.168.1.5' },
    { interface: 'eth0', address: '10.99.0.11' },
    { interface: 'eth0', address: '10.99.0.100' },
    { interface: 'eth0', address: 'fd00::11' },
  ];
  test.each<[string, readonly string[], readonly string[]]>([
    ['is the first one in the machine network', ['10.99.0.0/24'], ['10.99.0.11']],
    ['is one per family', ['fd00::/64', '10.99.0.0/24'], ['10.99.0.11', 'fd00::11']],
    ['is that of the default route where no network was named', [], ['10.99.0.11', 'fd00::11']],
  ])('%s', (_, machineNetworks, expected) => {
    expect(nodePreparation({ ...metal, addresses: several }, { machineNetworks }).nodeAddresses).toEqual(expected);
  });

  test('is never guessed', () => {
    expect(() => nodePreparation({ ...metal, addresses: several }, { machineNetworks: ['172.16.0.0/12'] })).toThrow(
      expect.objectContaining({ code: nodePreparationErrors.NO_ADDRESS.code }),
    );
  });
});

describe('the name of a node', () => {
  test('is the host name in lower case', () => {
    expect(nodePreparation({ ...metal, hostname: 'Master-0.Example.COM' }, networks).nodeName).toBe(
      'master-0.example.com',
    );
  });
  test.each(['localhost', '', '(none)', 'a_b', '-a', 'a..b', 'x'.repeat(254)])('is not %j', (hostname) => {
    expect(() => nodePreparation({ ...metal, hostname }, networks)).toThrow(
      expect.objectContaining({ code: nodePreparationErrors.NAME_UNFIT.code }),
    );
  });
});

describe('reading the machine', () => {
  test('finds CAP_SYS_RESOURCE, which is bit 24', () => {
    expect(holdsSysResource('Name:\tx\nCapEff:\t000001ffffffffff\n')).toBe(true);
    expect(holdsSysResource('Name:\tx\nCapEff:\t000001fffeffffff\n')).toBe(false);
    expect(holdsSysResource('')).toBe(false);
  });

  test('takes addresses as ip prints them, without those that are on their way out', () => {
    const printed = [
      { ifname: 'lo' },
      { ifname: 'eth0', addr_info: [{ local: '10.0.0.1' }, { local: 'fd00::9', deprecated: true }] },
      {},
    ];
    expect(readAddresses(printed)).toEqual([{ interface: 'eth0', address: '10.0.0.1' }]);
  });
});
