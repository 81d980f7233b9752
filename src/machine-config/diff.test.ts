import { describe, expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import { diffSpecs } from './diff.ts';
import { actionText, disruptionOfPath } from './disruption.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import { configSpec } from './machine-config.ts';

const spec = (config: Partial<IgnitionConfig>, more: Partial<MachineConfigSpec> = {}): MachineConfigSpec => ({
  ...configSpec({ ignition: { version: '3.5.0' }, ...config }),
  ...more,
});
const file = (path: string, source: string): Partial<IgnitionConfig> => ({
  storage: { files: [{ path, contents: { source } }] },
});
const unit = (name: string, contents: string): Partial<IgnitionConfig> => ({
  systemd: { units: [{ name, contents }] },
});
const user = (name: string, key: string): Partial<IgnitionConfig> => ({
  passwd: { users: [{ name, sshAuthorizedKeys: [key] }] },
});
const actions = (before: MachineConfigSpec, after: MachineConfigSpec): readonly string[] =>
  diffSpecs(before, after).actions.map((action) => actionText(action));

describe('what a change costs', () => {
  test.each<[string, MachineConfigSpec, MachineConfigSpec, readonly string[]]>([
    ['nothing changed', spec(file('/a', 'data:,1')), spec(file('/a', 'data:,1')), []],
    ['an unknown file', spec({}), spec(file('/etc/a', 'data:,1')), ['reboot']],
    ['a registry', spec({}), spec(file('/etc/containerd/certs.d/x/hosts.toml', 'data:,1')), []],
    [
      'containerd',
      spec({}),
      spec(file('/etc/containerd/config.toml', 'data:,1')),
      ['systemctl restart containerd.service'],
    ],
    [
      'the image policy of CRI-O',
      spec({}),
      spec(file('/etc/containers/policy.json', 'data:,')),
      ['systemctl reload crio.service'],
    ],
    [
      'the kubelet unit',
      spec(unit('kubelet.service', '[A]')),
      spec(unit('kubelet.service', '[B]')),
      ['systemctl daemon-reload', 'systemctl restart kubelet.service'],
    ],
    ['an unknown unit', spec({}), spec(unit('x.service', '[A]')), ['reboot']],
    ['SSH keys of core', spec(user('core', 'a')), spec(user('core', 'b')), []],
    ['another user', spec({}), spec(user('me', 'a')), ['new machines only']],
    ['a disk', spec({}), spec({ storage: { disks: [{ device: '/dev/x' }] } }), ['new machines only']],
    ['a folder', spec({}), spec({ storage: { directories: [{ path: '/x' }] } }), ['reboot']],
    [
      'a link below a path with a rule',
      spec({}),
      spec({ storage: { links: [{ path: '/etc/sysctl.d/x', target: '/y' }] } }),
      ['systemctl restart systemd-sysctl.service'],
    ],
    ['kernel arguments', spec({}), spec({}, { kernelArguments: ['quiet'] }), ['reboot']],
    ['FIPS', spec({}), spec({}, { fips: true }), ['new machines only']],
    [
      'a reboot beside something less',
      spec(file('/etc/containerd/config.toml', 'data:,1')),
      spec(file('/etc/containerd/config.toml', 'data:,2'), { osImageURL: 'x' }),
      ['reboot'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(actions(before, after)).toEqual(expected);
    expect(diffSpecs(before, after).needsReboot).toBe(expected.includes('reboot'));
  });

  test('the longest matching path decides', () => {
    expect(disruptionOfPath('/etc/containerd/certs.d/docker.io/hosts.toml').actions).toEqual([{ kind: 'none' }]);
    expect(disruptionOfPath('/etc/containerdx').actions).toEqual([{ kind: 'reboot' }]);
  });
});

test('a changed entry names the fields that differ', () => {
  const before = spec({ storage: { files: [{ path: '/a', mode: 0o600, contents: { source: 'data:,1' } }] } });
  const after = spec({ storage: { files: [{ path: '/a', mode: 0o644, contents: { source: 'data:,2' } }] } });
  expect(diffSpecs(before, after).changes).toMatchObject([
    { kind: 'file', name: '/a', change: 'changed', fields: ['contents', 'mode'] },
  ]);
  expect(diffSpecs(before, spec({})).changes).toMatchObject([{ name: '/a', change: 'removed', fields: [] }]);
});
