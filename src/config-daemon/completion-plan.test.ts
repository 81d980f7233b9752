import { expect, test } from 'vitest';
import { daemonFiles } from '../contract/machine-config-node.ts';
import { bootstrapKubeconfig, kubeletPullSecret, runtimeUnitFolder, unitFolder } from '../contract/machine-paths.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { configSpec } from '../machine-config/machine-config.ts';
import { readOwnConfig } from './adopt-served-config.ts';
import { type AppliedConfig, appliedConfigText } from './applied-config.ts';
import { completeFirstBoot } from './complete-first-boot.ts';
import { emptyDaemonState, writeDaemonState } from './daemon-state.ts';
import { fakeMachine, picture, restarted } from './fake-machine.ts';
import { findDrift } from './find-drift.ts';

const ignition = { version: '3.5.0' } as const;
const named = (name: string, config: Omit<IgnitionConfig, 'ignition'>): AppliedConfig => {
  return { name, spec: configSpec({ ignition, ...config }) };
};
const unit = (text: string): string => `[Service]\nExecStart=${text}\n[Install]\nWantedBy=multi-user.target\n`;
const file = (path: string, content: string) => inlineFile({ path, content, mode: 0o600 });

const older = named('rendered-worker-1', {
  storage: { files: [file('/etc/kubelet.yaml', 'old'), file('/etc/dropped', 'old')] },
  systemd: { units: [{ name: 'kubelet.service', enabled: true, contents: unit('old') }] },
});
const newer = named('rendered-worker-2', {
  storage: { files: [file('/etc/kubelet.yaml', 'new')] },
  systemd: {
    units: [
      {
        name: 'kubelet.service',
        enabled: true,
        contents: unit('new'),
        dropins: [{ name: '10-ours.conf', contents: '#' }],
      },
      { name: 'ssh.service', enabled: true },
    ],
  },
});

/** As the in-place bootstrapper puts it together. */
const given: AppliedConfig = {
  ...newer,
  spec: {
    ...newer.spec,
    config: {
      ...newer.spec.config,
      storage: {
        files: [
          ...(newer.spec.config.storage?.files ?? []),
          file(bootstrapKubeconfig, 'a token'),
          file(kubeletPullSecret, 'registries'),
          file(daemonFiles.nodeAnnotations, '{}'),
          file(daemonFiles.servedMachineConfig, appliedConfigText(newer)),
        ],
      },
    },
  },
};

async function machine(): Promise<FakeHost> {
  const host = await fakeMachine();
  for (const folder of ['/run/systemd/system', '/etc/machine-config-daemon']) await host.files.makeFolder(folder);
  await host.files.write('/usr/lib/systemd/system/ssh.service', unit('ssh'));
  await host.files.write(daemonFiles.encapsulated, appliedConfigText(older));
  await completeFirstBoot(host);
  await host.files.write(daemonFiles.encapsulated, appliedConfigText(given));
  return host;
}

/** Everything that a person can do to it by hand. */
async function wreck(host: FakeHost): Promise<void> {
  const { files } = host;
  await files.remove('/etc/kubelet.yaml');
  await files.remove(`${unitFolder}/kubelet.service`);
  for (const path of [
    `${unitFolder}/kubelet.service`,
    `${unitFolder}/ssh.service`,
    `${runtimeUnitFolder}/ssh.service`,
  ]) {
    await files.symlink('/dev/null', path);
  }
  await files.makeFolder(`${unitFolder}/kubelet.service.d`);
  await files.write(`${unitFolder}/kubelet.service.d/99-by-hand.conf`, '[Service]\nExecStart=/bin/false\n');
  await files.write(daemonFiles.currentConfig, 'damaged');
  await files.write(daemonFiles.servedMachineConfig, appliedConfigText(older));
  await writeDaemonState(host, { ...emptyDaemonState, failure: failed });
}
const failed = { config: 'x', reason: 'y', state: 'Degraded', attempts: 1 } as const;

test('a machine that was wrecked by hand gets the whole config, and what the former one left behind goes', async () => {
  const host = await machine();
  await wreck(host);
  expect(await completeFirstBoot(host)).toEqual({
    status: 'applied',
    config: newer.name,
    removed: ['/etc/dropped'],
    setAside: [`${unitFolder}/kubelet.service.d/99-by-hand.conf`],
  });
  expect(await findDrift(host, newer.spec)).toEqual([]);
  expect(await host.files.facts('/etc/dropped')).toBeUndefined();
  const { stdout } = await host.processes.run('systemctl', ['is-enabled', 'kubelet.service', 'ssh.service']);
  expect(stdout).toBe('enabled\nenabled\n');
  expect(await host.files.list(`${unitFolder}/kubelet.service.d`)).toEqual(['10-ours.conf']);
  const aside = `${daemonFiles.setAside}${unitFolder}/kubelet.service.d/99-by-hand.conf`;
  expect(await host.files.readText(aside)).toContain('/bin/false');
});

test('what the config server adds is written, and is no part of the config that drift is looked for in', async () => {
  const host = await machine();
  await completeFirstBoot(host);
  expect(await host.files.readText(bootstrapKubeconfig)).toBe('a token');
  expect(await host.files.readText(kubeletPullSecret)).toBe('registries');
  expect((await readOwnConfig(host))?.spec).toEqual(JSON.parse(JSON.stringify(newer.spec)));
  // Nothing of it would come back as an original.
  expect(await host.files.facts(`${daemonFiles.noOriginals}${bootstrapKubeconfig}.mcdnoorig`)).toBeUndefined();
});

test('a change that was under way or had failed before counts no more', async () => {
  const host = await machine();
  await wreck(host);
  await completeFirstBoot(host);
  expect(await host.files.list(daemonFiles.stateFolder)).not.toContain('state.json');
});

test('a wrecked machine is whole, old or new, wherever the power is cut', async () => {
  const wrecked = await machine();
  await wreck(wrecked);
  const straight = await restarted(wrecked);
  const before = straight.disk.changes;
  await completeFirstBoot(straight);
  const changes = straight.disk.changes - before;
  for (let crash = 1; crash <= changes; crash += 1) {
    const host = await restarted(wrecked);
    host.disk.crashAt = crash;
    await completeFirstBoot(host).catch(() => undefined);
    const again = await restarted(host);
    if ((await again.files.facts(daemonFiles.encapsulated)) !== undefined) await completeFirstBoot(again);
    expect(picture(again), `crash ${crash}`).toEqual(picture(straight));
  }
  expect(changes).toBeGreaterThan(40);
});
