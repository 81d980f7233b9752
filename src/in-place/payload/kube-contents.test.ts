import { describe, expect, test } from 'vitest';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, containerdConfig, kubeletConfiguration } from '../../contract/machine-paths.ts';
import type { IgnitionConfig } from '../../ignition/config.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { kubeContents } from './kube-contents.ts';
import { sampleMachineConfig, sampleRequest } from './sample-payload.ts';

const { addedFiles } = sampleRequest();
const withConfig = (config: Omit<IgnitionConfig, 'ignition'>) =>
  kubeContents(sampleMachineConfig({ ignition: { version: '3.5.0' }, ...config }), addedFiles);

describe('what stage B puts in place', () => {
  const contents = kubeContents(sampleMachineConfig(), addedFiles);
  const stepOf = (path: string) => contents.files.find((file) => file.path === path)?.step;

  test('each file belongs to one step: of the runtime, of the kubelet, or a credential', () => {
    expect(stepOf(containerdConfig)).toBe('runtime');
    expect(stepOf('/etc/systemd/system/containerd.service')).toBe('runtime');
    expect(stepOf(kubeletConfiguration)).toBe('kubelet');
    expect(stepOf('/etc/systemd/system/kubelet.service')).toBe('kubelet');
    expect(stepOf(bootstrapKubeconfig)).toBe('credentials');
    expect(new Set(contents.files.map(({ path }) => path)).size).toBe(contents.files.length);
  });

  test('the machine has the served config at once: no first boot is asked for', () => {
    const bytesOf = (path: string) => contents.files.find((file) => file.path === path)?.bytes;
    expect(bytesOf(daemonFiles.currentConfig)).toEqual(bytesOf(daemonFiles.servedMachineConfig));
    expect(bytesOf(daemonFiles.encapsulated)).toBeUndefined();
  });

  test('agent and kubelet are not started with the other services', () => {
    expect(contents.units).toEqual({
      enabled: ['containerd.service', 'firstlight-agent.service'],
      disabled: [],
      unmasked: [],
      restarted: ['containerd.service'],
    });
    expect(contents.links).toContainEqual({ path: '/etc/systemd/system/noise.service', target: '/dev/null' });
  });

  test('a user whose keys the config has is made, and owns them', () => {
    const { users, files } = withConfig({
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 A'] }] },
    });
    expect(users).toEqual(['core']);
    expect(files.find(({ path }) => path.endsWith('/ignition'))).toMatchObject({ owner: 'core', mode: 0o600 });
  });

  test('what a payload cannot carry is refused by name', () => {
    const fetched = { path: '/etc/far', contents: { source: 'https://example.com/far' } };
    expect(() => withConfig({ storage: { files: [fetched] } })).toThrow(/\/etc\/far is fetched from elsewhere/);
    const links = [{ path: '/etc/second', target: '/etc/first', hard: true }];
    expect(() => withConfig({ storage: { links } })).toThrow(/\/etc\/second is a second name of another file/);
    const lonely = [inlineFile({ path: bootstrapKubeconfig, content: '', mode: 0o600 })];
    expect(() => kubeContents(sampleMachineConfig(), lonely)).toThrow(/mcs-machine-config-content\.json is missing/);
  });
});
