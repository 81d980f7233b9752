import { expect, test } from 'vitest';
import { fakeMachine, picture, restarted } from '../../config-daemon/fake-machine.ts';
import { unitFolder } from '../../contract/machine-paths.ts';
import { Crash } from '../../host/fake/fake-files.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import type { StageTouches } from '../payload/payload-manifest.ts';
import { keepBefore, putBack } from './stage-undo.ts';

const folder = '/var/lib/ipb/attempt/undo';
const unit = (text: string): string => `[Service]\nExecStart=${text}\n[Install]\nWantedBy=multi-user.target\n`;

const touches: StageTouches = {
  paths: [
    { path: '/etc/motd', what: 'contents' },
    { path: '/etc/new/deep/file', what: 'contents' },
    { path: '/etc/pointer', what: 'contents' },
    { path: `${unitFolder}/kubelet.service`, what: 'contents' },
    { path: `${unitFolder}/new.service`, what: 'contents' },
    { path: '/etc/cron.d', what: 'rights' },
    { path: '/etc/nowhere', what: 'rights' },
  ],
  units: ['kubelet.service', 'new.service', 'old.service'],
};

async function machine(): Promise<FakeHost> {
  const host = await fakeMachine();
  const { files } = host;
  await files.makeFolder('/var/lib/ipb/attempt');
  await files.makeFolder('/etc/cron.d', { mode: 0o755 });
  await files.write('/etc/motd', 'of the system\n', { mode: 0o640, uid: 0, gid: 65_534 });
  await files.symlink('/dev/null', '/etc/pointer');
  await files.write(`${unitFolder}/kubelet.service`, unit('kubelet'));
  await files.write('/usr/lib/systemd/system/old.service', unit('old'));
  await host.processes.run('systemctl', ['enable', 'old.service', 'kubelet.service']);
  return host;
}

/** What a stage may do. */
async function change(host: FakeHost): Promise<void> {
  const { files } = host;
  await files.write('/etc/motd', 'ours\n', { mode: 0o644 });
  await files.makeFolder('/etc/new/deep');
  await files.write('/etc/new/deep/file', 'new\n');
  await files.remove('/etc/pointer');
  await files.write('/etc/pointer', 'a file now\n');
  await files.write(`${unitFolder}/kubelet.service`, unit('new kubelet'));
  await files.write(`${unitFolder}/new.service`, unit('new'));
  await files.setMode('/etc/cron.d', 0o700);
  await files.makeFolder('/etc/nowhere');
  await host.processes.run('systemctl', ['enable', 'new.service']);
  await host.processes.run('systemctl', ['disable', 'old.service']);
}

test('what a stage changed is put back: contents, modes, owners, links, folders and units', async () => {
  const host = await machine();
  const before = picture(host);
  await keepBefore(host, folder, touches);
  await change(host);
  await putBack(host, folder);
  expect(picture(host)).toEqual(before);
});

test('a stage that is repeated keeps what was before its first run', async () => {
  const host = await machine();
  const before = picture(host);
  await keepBefore(host, folder, touches);
  await change(host);
  await keepBefore(host, folder, touches);
  await putBack(host, folder);
  expect(picture(host)).toEqual(before);
});

test('where nothing was kept nothing is put back', async () => {
  const host = await machine();
  const before = picture(host);
  await putBack(host, folder);
  expect(picture(host)).toEqual(before);
});

test('a folder where a file should go is refused before anything is changed', async () => {
  const host = await machine();
  await host.files.makeFolder('/etc/new/deep/file');
  await expect(keepBefore(host, folder, touches)).rejects.toMatchObject({ code: 'PAYLOAD_IN_THE_WAY' });
});

test('a file that somebody put into a new folder stays there', async () => {
  const host = await machine();
  await keepBefore(host, folder, touches);
  await change(host);
  await host.files.write('/etc/new/theirs', 'x');
  await putBack(host, folder);
  expect(await host.files.readText('/etc/new/theirs')).toBe('x');
  expect(await host.files.facts('/etc/new/deep')).toBeUndefined();
});

test('killed at every change of putting back, the next try ends in the same state', async () => {
  const first = await machine();
  const before = picture(first);
  for (let at = 1; ; at += 1) {
    const host = await machine();
    await keepBefore(host, folder, touches);
    await change(host);
    host.disk.crashAt = host.disk.changes + at;
    const hasCrashed = await putBack(host, folder).then(
      () => false,
      (error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        return true;
      },
    );
    if (!hasCrashed) {
      expect(at).toBeGreaterThan(15);
      break;
    }
    const again = await restarted(host);
    await putBack(again, folder);
    await again.files.remove(folder);
    expect.soft(picture(again), `crash at change ${at}`).toEqual(before);
  }
});
