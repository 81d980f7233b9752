import { expect, test } from 'vitest';
import { type FakeAgent, fakeAgent } from '../../../test/sim/agent-fixture.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { kubeletClientCa, kubeletPullSecret, proxyCredentials } from '../../contract/machine-paths.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { machineSecretsDuty } from './machine-secrets.ts';

async function machine(data: Readonly<Record<string, string>> | undefined): Promise<FakeAgent> {
  const agent = fakeAgent({ role: 'worker' });
  const encoded = Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const secret = data === undefined ? undefined : { data: Object.fromEntries(encoded) };
  const client = { find: async () => secret } as unknown as KubernetesClient;
  await agent.host.files.makeFolder('/etc/machine-config-daemon');
  return Object.assign(agent, { api: async () => client });
}

test('without the Secret a machine keeps what it got at its first boot', async () => {
  const agent = await machine(undefined);
  expect(await machineSecretsDuty.run(agent)).toEqual({ status: 'settled' });
  expect(agent.commands).toEqual([]);
});

test('files follow the Secret, for root alone, and nothing is restarted for those that are read again', async () => {
  const agent = await machine({ 'kubelet-ca.crt': 'new authority', 'pull-secret.json': '{"auths":{}}' });
  expect(await machineSecretsDuty.run(agent)).toMatchObject({ status: 'acted' });
  expect(await agent.host.files.readText(kubeletClientCa)).toBe('new authority');
  expect(await agent.host.files.readText(kubeletPullSecret)).toBe('{"auths":{}}');
  expect((await agent.host.files.facts(kubeletPullSecret))?.mode).toBe(0o600);
  expect(await machineSecretsDuty.run(agent)).toEqual({ status: 'settled' });
  expect(agent.commands).toEqual([]);
});

test('what is read at start is followed by restarts, the agent last', async () => {
  const agent = await machine({ 'proxy-credentials.env': 'HTTPS_PROXY=http://u:p@proxy\n' });
  await machineSecretsDuty.run(agent);
  expect(await agent.host.files.readText(proxyCredentials)).toContain('u:p@proxy');
  await machineSecretsDuty.run(agent);
  expect(agent.commands).toEqual([
    '/usr/bin/systemctl restart containerd.service kubelet.service',
    '/usr/bin/systemctl --no-block restart firstlight-agent.service',
  ]);
  expect(await machineSecretsDuty.run(agent)).toEqual({ status: 'settled' });
});

test('a file that the config of the pool brings stays as the config says', async () => {
  const agent = await machine({ 'pull-secret.json': '{"auths":{}}' });
  const storage = { files: [{ path: kubeletPullSecret }] };
  const config = { metadata: { name: 'rendered-worker-1' }, spec: { config: { storage } } };
  await agent.host.files.write(daemonFiles.currentConfig, JSON.stringify(config));
  expect(await machineSecretsDuty.run(agent)).toEqual({ status: 'settled' });
  expect(await agent.host.files.facts(kubeletPullSecret)).toBeUndefined();
});
