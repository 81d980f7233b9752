import { expect, test } from 'vitest';
import { nodeConfigAnnotations as annotation, daemonFiles } from '../contract/machine-config-node.ts';
import { ignitionPreset } from '../contract/machine-paths.ts';
import { Crash } from '../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { adoptServedConfig, keepSeedsAside, readOwnConfig, seedAnnotations } from './adopt-served-config.ts';

const served = { metadata: { name: 'rendered-worker-1' }, spec: { config: { ignition: { version: '3.5.0' } } } };

async function machine(): Promise<FakeHost> {
  const host = fakeHost();
  await host.files.makeFolder('/etc/machine-config-daemon');
  await host.files.makeFolder('/etc/systemd/system-preset');
  await host.files.write(ignitionPreset, 'enable a.service\n');
  await host.files.write(daemonFiles.servedMachineConfig, JSON.stringify(served));
  await host.files.write(daemonFiles.encapsulated, '{}');
  const seeds = { [annotation.desired]: 'rendered-worker-1', [annotation.firstPivot]: 'rendered-worker-1' };
  await host.files.write(daemonFiles.nodeAnnotations, JSON.stringify(seeds));
  return host;
}

test('a new machine has the config that it was served, and its first boot is complete', async () => {
  const host = await machine();
  expect(await adoptServedConfig(host)).toBe(true);
  expect(await readOwnConfig(host)).toMatchObject({ name: 'rendered-worker-1', spec: served.spec });
  expect((await host.files.facts(daemonFiles.currentConfig))?.mode).toBe(0o600);
  expect(await host.files.facts(daemonFiles.encapsulated)).toBeUndefined();
  expect(await host.files.facts(daemonFiles.encapsulatedDone)).toBeDefined();
  expect(await host.files.facts(ignitionPreset)).toBeUndefined();
  expect(await adoptServedConfig(host)).toBe(false);
});

test('cut off at any change, the next start ends in the same state', async () => {
  for (let crashAfter = 0; ; crashAfter += 1) {
    const host = await machine();
    host.disk.crashAt = host.disk.changes + crashAfter;
    const isCut = await adoptServedConfig(host).then(
      () => false,
      (error: unknown) => error instanceof Crash,
    );
    delete host.disk.crashAt;
    await adoptServedConfig(host);
    expect((await readOwnConfig(host))?.name).toBe('rendered-worker-1');
    expect(await host.files.facts(daemonFiles.encapsulated)).toBeUndefined();
    if (!isCut) return;
  }
});

test('a machine that has changed since keeps what it has', async () => {
  const host = await machine();
  await host.files.write(daemonFiles.currentConfig, JSON.stringify({ ...served, metadata: { name: 'newer' } }));
  await adoptServedConfig(host);
  expect((await readOwnConfig(host))?.name).toBe('newer');
});

test('a Node begins with the served annotations, and with what the machine has when it is made anew', async () => {
  const host = await machine();
  const seeds = { [annotation.desired]: 'rendered-worker-1', [annotation.firstPivot]: 'rendered-worker-1' };
  expect(await seedAnnotations(host, { present: {}, current: 'rendered-worker-1' })).toEqual(seeds);
  await keepSeedsAside(host);
  expect(await host.files.facts(daemonFiles.nodeAnnotations)).toBeUndefined();
  expect(await seedAnnotations(host, { present: seeds, current: 'rendered-worker-2' })).toBeUndefined();
  expect(await seedAnnotations(host, { present: {}, current: 'rendered-worker-2' })).toEqual({
    ...seeds,
    [annotation.desired]: 'rendered-worker-2',
  });
});
