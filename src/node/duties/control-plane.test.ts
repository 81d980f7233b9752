import { expect, test } from 'vitest';
import { type FakeAgent, fakeAgent, putRelease } from '../../../test/sim/agent-fixture.ts';
import { encryptionConfigurationText, newEncryptionKey } from '../../contract/secrets-encryption.ts';
import { podWrittenKey } from '../../contract/timeline.ts';
import type { HttpRequest } from '../../host/network.ts';
import { connectKubernetes } from '../../kubernetes/client.ts';
import { kubeconfigText } from '../../kubernetes/kubeconfig.ts';
import { controlPlaneDuty } from './control-plane.ts';

/** Its API is what its network answers. */
function withApi(agent: FakeAgent): FakeAgent {
  const text = kubeconfigText({
    cluster: 'demo',
    server: agent.apiServerUrl,
    caPem: 'ca',
    user: 'agent',
    credential: { kind: 'token', token: 'token' },
  });
  return { ...agent, api: () => connectKubernetes(agent.host, { text }) };
}

test('the API server comes first, the others when it serves, and a pod that is there is left as it is', async () => {
  let status = 500;
  const agent = withApi(
    fakeAgent({ network: { request: async () => ({ status, headers: {}, body: new Uint8Array() }) } }),
  );
  await putRelease(agent);
  const { files } = agent.host;
  await files.makeFolder('/etc/kubernetes/pki');
  await files.write('/etc/kubernetes/pki/apiserver-ca.crt', 'ca');
  const folder = '/etc/kubernetes/manifests';
  await files.write(`${folder}/kube-scheduler-pod.yaml`, 'of an earlier release');
  expect(await controlPlaneDuty.run(agent)).toEqual({
    status: 'acted',
    did: 'started kube-apiserver',
    key: podWrittenKey,
  });
  expect(await files.readText(`${folder}/kube-scheduler-pod.yaml`)).toBe('of an earlier release');
  expect(await files.readText(`${folder}/kube-apiserver-pod.yaml`)).toContain('--advertise-address=10.99.0.12');
  expect(await controlPlaneDuty.run(agent)).toMatchObject({
    status: 'waiting',
    missing: [{ what: expect.stringContaining('500') }],
  });
  status = 200;
  expect(await controlPlaneDuty.run(agent)).toEqual({
    status: 'acted',
    did: 'started kube-controller-manager',
    key: podWrittenKey,
  });
  expect(await controlPlaneDuty.run(agent)).toEqual({ status: 'settled' });
});

test('an API server starts with the keys that the cluster encrypts Secrets by now, not with those of the join', async () => {
  const answers: Readonly<Record<string, object>> = {
    '/api/v1': { resources: [{ name: 'secrets', kind: 'Secret', namespaced: true }] },
  };
  const request = async ({ url }: HttpRequest) => {
    const body = answers[new URL(url).pathname] ?? {
      metadata: { name: 'x' },
      data: { 'secrets-encryption.json': now },
    };
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  };
  const kept = { request, open: () => Promise.reject(new Error('no stream')), [Symbol.dispose]: () => {} };
  const agent = withApi(fakeAgent({ network: { keepConnections: () => kept } }));
  const { files, random, clock } = agent.host;
  const text = encryptionConfigurationText([newEncryptionKey(random, clock.now())]);
  const now = Buffer.from(text).toString('base64');
  await putRelease(agent);
  await files.makeFolder('/etc/kubernetes/pki');
  await files.write('/etc/kubernetes/pki/secrets-encryption.json', 'of the join', { mode: 0o600 });
  expect(await controlPlaneDuty.run(agent)).toMatchObject({ did: 'started kube-apiserver' });
  expect(await files.readText('/etc/kubernetes/pki/secrets-encryption.json')).toBe(text);
});
