import { beforeEach, expect, test } from 'vitest';
import { unitFolder } from '../contract/machine-paths.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { configSpec } from '../machine-config/machine-config.ts';
import { planChange } from './change-plan.ts';
import { fakeMachine, picture } from './fake-machine.ts';
import { findDrift, foldersToWatch, planHeal } from './find-drift.ts';
import { applyChange, finishChange } from './transaction.ts';

const config = {
  name: 'rendered-worker-1',
  spec: configSpec({
    ignition: { version: '3.5.0' },
    storage: {
      directories: [{ path: '/etc/folder', mode: 0o750 }],
      files: [inlineFile({ path: '/etc/folder/file', content: 'secret\n', mode: 0o600 })],
      links: [{ path: '/etc/link', target: '/etc/folder/file' }],
    },
    systemd: {
      units: [
        { name: 'on.service', enabled: true, contents: '[Install]\nWantedBy=multi-user.target\n' },
        { name: 'off.service', enabled: false, contents: '[Install]\nWantedBy=multi-user.target\n' },
        { name: 'open.service', contents: '[Install]\nWantedBy=multi-user.target\n' },
        { name: 'masked.service', mask: true },
        { name: 'of-no-machine.service', enabled: true },
      ],
    },
  }),
};
const empty = configSpec({ ignition: { version: '3.5.0' } });

let host: FakeHost;
beforeEach(async () => {
  host = await fakeMachine();
  await applyChange(host, { from: undefined, to: config, plan: planChange(empty, config.spec) });
  await finishChange(host);
});

const systemctl = async (...args: readonly string[]): Promise<unknown> => host.processes.run('systemctl', args);

test('a machine as a change left it has no drift, also where the agent enabled what the config leaves open', async () => {
  await systemctl('enable', 'open.service');
  expect(await findDrift(host, config.spec)).toEqual([]);
});

test.each<[string, () => Promise<unknown>, string]>([
  [
    'a mode',
    () => host.files.setMode('/etc/folder/file', 0o644),
    'mode mismatch for file /etc/folder/file: 0644, should be 0600',
  ],
  [
    'contents',
    () => host.files.write('/etc/folder/file', 'other\n', { mode: 0o600 }),
    'content mismatch for file /etc/folder/file',
  ],
  [
    'an owner',
    () => host.files.setOwner('/etc/folder/file', { uid: 7, gid: 8 }),
    'owner mismatch for file /etc/folder/file: 7:8, should be 0:0',
  ],
  ['a missing file', () => host.files.remove('/etc/folder/file'), 'file /etc/folder/file is missing'],
  [
    'a folder',
    () => host.files.setMode('/etc/folder', 0o700),
    'mode mismatch for folder /etc/folder: 0700, should be 0750',
  ],
  [
    'a link',
    () => host.files.symlink('/etc/x', '/etc/link'),
    'target mismatch for link /etc/link: /etc/x, should be /etc/folder/file',
  ],
  [
    'a unit that should start',
    () => systemctl('disable', 'on.service'),
    'unit on.service is disabled, should be enabled',
  ],
  [
    'a unit that should not',
    () => systemctl('enable', 'off.service'),
    'unit off.service is enabled, should be disabled',
  ],
  ['a mask', () => host.files.remove(`${unitFolder}/masked.service`), `link ${unitFolder}/masked.service is missing`],
])('%s that changed is drift with one message, and is healed by its plan', async (_, change, message) => {
  const before = picture(host);
  await change();
  const drifts = await findDrift(host, config.spec);
  expect(drifts.map((drift) => drift.message)).toEqual([message]);
  await applyChange(host, { from: config, to: config, plan: planHeal(config.spec, drifts) });
  await finishChange(host);
  expect(picture(host)).toEqual(before);
});

test('the folders of files, of units and of the links that enable them are watched', async () => {
  await host.files.remove('/etc/folder');
  expect(await foldersToWatch(host, config.spec)).toEqual([
    '/etc',
    unitFolder,
    `${unitFolder}/multi-user.target.wants`,
  ]);
});
