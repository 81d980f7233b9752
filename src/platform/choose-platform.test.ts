import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { chooseMachinePlatform, choosePlatform } from './choose-platform.ts';
import { ableTo } from './platform.ts';
import { platformTraits } from './platform-traits.ts';

const host = fakeHost();

test('the key of the platform section names the platform, and local is the default', () => {
  expect(choosePlatform(host, { local: {} }).name).toBe('local');
  expect(choosePlatform(host, {}).name).toBe('local');
  expect(choosePlatform(host, { none: {} }).name).toBe('none');
});

test('what a platform decides beforehand agrees with what it can do', () => {
  for (const section of [{ local: {} }, { none: {} }]) {
    const { createMachines } = choosePlatform(host, section);
    expect(platformTraits(section).makesMachines).toBe(createMachines !== undefined);
  }
});

test('what a platform cannot do is refused by a code that names it', () => {
  expect(() => ableTo(choosePlatform(host, { none: {} }), 'destroyMachines')).toThrow(
    expect.objectContaining({
      code: 'PLATFORM_UNABLE',
      message: 'firstlight cannot destroy machines on platform none',
    }),
  );
});

test('machine verbs in the folder of a cluster on platform none are about machines on this host', () => {
  expect(chooseMachinePlatform(host, { none: {} }).name).toBe('local');
  expect(chooseMachinePlatform(host).name).toBe('local');
});

test('a cluster without machines is known to no platform, and nothing of it is there', async () => {
  for (const section of [{ local: {} }, { none: {} }]) {
    const platform = choosePlatform(host, section);
    expect(await platform.findCluster('demo')).toBeUndefined();
    expect(await platform.listMachines('demo')).toEqual([]);
    expect(await platform.observeMachines('demo')).toEqual([]);
    expect(await platform.balancerMoments('demo')).toEqual([]);
    expect(await platform.filesOf({ cluster: 'demo', machine: 'a' }).readIfPresent('/etc/hostname')).toBeUndefined();
  }
});

test.each(['journal', 'console'] as const)('the %s of a machine that is not there is refused', async (source) => {
  const log = ableTo(choosePlatform(host, { local: {} }), 'logCommand');
  const request = { source, units: [], lines: 10, isFollowing: false, format: 'short-precise' } as const;
  await expect(log({ cluster: 'demo', machine: 'nobody' }, request)).rejects.toMatchObject({
    code: 'PLATFORM_NO_MACHINE',
  });
});
