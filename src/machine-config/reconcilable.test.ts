import { describe, expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import { configSpec } from './machine-config.ts';
import { reconcilableProblems } from './reconcilable.ts';
import { unsupportedProblems } from './unsupported.ts';

const spec = (config: Partial<IgnitionConfig>, more: Partial<MachineConfigSpec> = {}): MachineConfigSpec => ({
  ...configSpec({ ignition: { version: '3.5.0' }, ...config }),
  ...more,
});
const file = (more: object): MachineConfigSpec => spec({ storage: { files: [{ path: '/a', ...more }] } });
const user = (more: object): MachineConfigSpec => spec({ passwd: { users: [{ name: 'core', ...more }] } });

describe('a machine that exists', () => {
  test.each<[string, MachineConfigSpec, MachineConfigSpec]>([
    ['files', spec({}), file({ contents: { source: 'data:,1' } })],
    ['folders', spec({}), spec({ storage: { directories: [{ path: '/x' }] } })],
    ['links', spec({ storage: { links: [{ path: '/x', target: '/y' }] } }), spec({})],
    ['units', spec({}), spec({ systemd: { units: [{ name: 'a.service', enabled: true }] } })],
    ['SSH keys and the password of core', user({ sshAuthorizedKeys: ['a'] }), user({ passwordHash: '$6$' })],
    ['the end of all users', user({ sshAuthorizedKeys: ['a'] }), spec({})],
    [
      'the proxy of Ignition, which only a first boot uses',
      spec({}),
      spec({ ignition: { version: '3.5.0', proxy: {} } }),
    ],
    [
      'a file that is fetched and did not change',
      file({ contents: { source: 'https://a/b' } }),
      file({ contents: { source: 'https://a/b' } }),
    ],
  ])('takes %s', (_, before, after) => {
    expect(reconcilableProblems(before, after)).toEqual([]);
  });

  test.each<[string, MachineConfigSpec, MachineConfigSpec, string]>([
    ['disks', spec({}), spec({ storage: { disks: [{ device: '/dev/x' }] } }), 'storage.disks changed'],
    ['the end of a disk', spec({ storage: { disks: [{ device: '/dev/x' }] } }), spec({}), 'storage.disks changed'],
    [
      'RAID',
      spec({}),
      spec({ storage: { raid: [{ name: 'a', level: 'raid1', devices: ['/x'] }] } }),
      'storage.raid changed',
    ],
    ['LUKS', spec({}), spec({ storage: { luks: [{ name: 'a' }] } }), 'storage.luks changed'],
    ['groups', spec({}), spec({ passwd: { groups: [{ name: 'g' }] } }), 'group g changed'],
    ['another user', spec({}), spec({ passwd: { users: [{ name: 'me' }] } }), 'user me changed'],
    ['the shell of core', user({}), user({ shell: '/bin/sh' }), 'shell of user core changed'],
    [
      'kernel arguments of Ignition',
      spec({}),
      spec({ kernelArguments: { shouldExist: ['a'] } }),
      'config.kernelArguments',
    ],
    ['kernel arguments', spec({}), spec({}, { kernelArguments: ['a'] }), 'kernelArguments changed'],
    ['FIPS', spec({}, { fips: true }), spec({}), 'fips changed'],
    ['a file that is appended to', spec({}), file({ append: [{ source: 'data:,1' }] }), 'file /a is appended to'],
    [
      'a file that would be fetched',
      spec({}),
      file({ contents: { source: 'https://me:secret@a/b' } }),
      'file /a is fetched from https://a,',
    ],
    [
      'other configs',
      spec({}),
      spec({ ignition: { version: '3.5.0', config: { merge: [{ source: 'https://a' }] } } }),
      'ignition.config changed',
    ],
  ])('does not take %s', (_, before, after, message) => {
    expect(reconcilableProblems(before, after).map((problem) => problem.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });
});

describe('what the platform cannot honour', () => {
  const asking = spec(
    { storage: { disks: [{ device: '/dev/x' }] }, kernelArguments: { shouldExist: ['a'] } },
    { kernelArguments: ['a'], kernelType: 'realtime', extensions: ['usbguard'], fips: true, osImageURL: 'mine' },
  );
  const namesOn = (sharesHost: boolean): readonly string[] =>
    unsupportedProblems(asking, { sharesHost, osImageURL: '' }).map(({ message }) => message.split(' ')[0] ?? '');
  const everywhere = ['osImageURL', 'kernelArguments', 'kernelType', 'extensions', 'fips'];

  test('are disks and kernels where machines share those of their host', () => {
    expect(namesOn(true)).toEqual([...everywhere, 'storage.disks', 'config.kernelArguments']);
  });

  test('are not disks where machines have their own', () => {
    expect(namesOn(false)).toEqual(everywhere);
  });
});
