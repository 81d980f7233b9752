import { describe, expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { torcxContext } from './context.ts';
import { runTorcx } from './run-torcx.ts';
import { readTorcxSettings, type TorcxFlags } from './settings.ts';

const debian = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n';

/** A node without bus, API server and bucket. */
async function node(role: 'bootstrap' | 'hook', flags: TorcxFlags = {}) {
  const host = fakeHost();
  await host.files.makeFolder('/usr/lib');
  await host.files.write('/usr/lib/os-release', debian);
  await host.files.makeFolder('/etc/kubernetes/installer');
  await host.files.write('/etc/kubernetes/installer/kubelet.env', 'KUBELET_IMAGE_TAG="v1.37.1"\n');
  if (role === 'hook') await host.files.write('/etc/kubernetes/kubelet.env', 'KUBELET_IMAGE_TAG=v1.37.1\n');
  const said: string[] = [];
  const emit = (event: WorkflowEvent): void => void (event.kind === 'notice' && said.push(event.text));
  const settings = readTorcxSettings(role, flags, host.environment);
  const { signal } = new AbortController();
  return { host, said, run: () => runTorcx(torcxContext(host, settings, { signal, emit })) };
}

describe('an OS without torcx packages', () => {
  test('is told so, and gets its kubelet.env from the file of the installer, without add-on and reboot', async () => {
    const { host, said, run } = await node('bootstrap');
    const outcome = await run();
    expect(outcome.status).toBe('done');
    expect(outcome.actions.map(({ kind }) => kind)).toEqual(['write-kubelet-env']);
    expect(said).toContain(
      'there are no torcx packages for Debian GNU/Linux 12 (bookworm): add-ons, profiles and OS updates are left alone',
    );
    expect(await host.files.readText('/etc/kubernetes/kubelet.env')).toBe('KUBELET_IMAGE_TAG=v1.37.1\n');
  });

  test('needs neither keyring nor mappings nor update_engine', async () => {
    const { run } = await node('bootstrap', { keyring: '/nowhere', upgradeOs: true });
    expect(await run()).toMatchObject({ status: 'done' });
  });

  test('has nothing for the hook to prepare', async () => {
    const { run } = await node('hook');
    expect(await run()).toMatchObject({ status: 'done', actions: [] });
  });
});
