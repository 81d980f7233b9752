import { describe, expect, test } from 'vitest';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { configSpec, type MachineConfigSpec } from '../machine-config/machine-config.ts';
import { appliedConfigText } from './applied-config.ts';
import { completeFirstBoot } from './complete-first-boot.ts';
import { fakeMachine, picture, restarted } from './fake-machine.ts';

const ignition = { version: '3.5.0' } as const;
const whole: IgnitionConfig = {
  ignition,
  storage: {
    directories: [{ path: '/etc/kubernetes/manifests' }],
    files: [inlineFile({ path: '/etc/kubernetes/kubelet.env', content: 'A=b\n', mode: 0o600 })],
    links: [{ path: '/etc/link', target: '/etc/kubernetes' }],
  },
  systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Install]\nWantedBy=multi-user.target\n' }] },
};

async function machineWith(spec: MachineConfigSpec): Promise<FakeHost> {
  const host = await fakeMachine();
  await host.files.write(daemonFiles.encapsulated, appliedConfigText({ name: 'rendered-worker-1', spec }));
  return host;
}

const isThere = async ({ files }: FakeHost, path: string): Promise<boolean> => (await files.facts(path)) !== undefined;

describe('the completion of a first boot', () => {
  test('applies a whole config to a machine without any, and sets the file aside', async () => {
    const host = await machineWith(configSpec(whole));
    expect(await completeFirstBoot(host)).toMatchObject({ status: 'applied', config: 'rendered-worker-1' });
    expect(await host.files.readText('/etc/kubernetes/kubelet.env')).toBe('A=b\n');
    expect([await isThere(host, daemonFiles.encapsulated), await isThere(host, daemonFiles.encapsulatedDone)]).toEqual([
      false,
      true,
    ]);
    // The next start finds nothing to do, so that the machine is rebooted once.
    expect(await completeFirstBoot(host)).toMatchObject({ status: 'complete', config: undefined });
  });

  test('deletes a file with nothing in it, and reboots nothing', async () => {
    const host = await machineWith({ ...configSpec({ ignition }), kernelType: 'default' });
    expect(await completeFirstBoot(host)).toMatchObject({ status: 'complete', config: 'rendered-worker-1' });
    expect([await isThere(host, daemonFiles.encapsulated), await isThere(host, daemonFiles.encapsulatedDone)]).toEqual([
      false,
      false,
    ]);
  });

  test('refuses what no program on this machine can do, before anything has changed', async () => {
    const host = await machineWith({ ...configSpec(whole), kernelArguments: ['quiet'] });
    const before = picture(host);
    await expect(completeFirstBoot(host)).rejects.toThrow(/kernelArguments changed/);
    expect(picture(host)).toEqual(before);
  });

  test('ends in the same state when the power is cut at any moment', async () => {
    const fresh = await machineWith(configSpec(whole));
    const straight = await restarted(fresh);
    await completeFirstBoot(straight);
    const { changes } = straight.disk;
    for (let crash = 1; crash <= changes; crash += 1) {
      const host = await restarted(fresh);
      host.disk.crashAt = crash;
      await completeFirstBoot(host).catch(() => undefined);
      const again = await restarted(host);
      // While the file is there the kubelet is held; when it has gone, everything else is done.
      if (await isThere(again, daemonFiles.encapsulated)) await completeFirstBoot(again);
      expect(picture(again)).toEqual(picture(straight));
    }
    expect(changes).toBeGreaterThan(20);
  });
});
