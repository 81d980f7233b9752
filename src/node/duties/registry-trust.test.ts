import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { type FakeAgent, fakeAgent } from '../../../test/sim/agent-fixture.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { registryTrustDuty } from './registry-trust.ts';

function machine(find: () => Promise<unknown>): FakeAgent {
  const client = { find } as unknown as KubernetesClient;
  return Object.assign(fakeAgent({ role: 'worker' }), { api: async () => client });
}

const host = 'registry.apps.demo.firstlight.test:5000';
const folder = `/etc/containerd/certs.d/${host}`;

test('containerd is told whom to believe, once', async () => {
  const agent = machine(async () => ({ data: { host, 'ca-bundle.crt': 'the signer' } }));
  expect(await registryTrustDuty.run(agent)).toMatchObject({ status: 'acted' });
  expect(await agent.host.files.readText(`${folder}/ca.crt`)).toBe('the signer');
  expect(parse(await agent.host.files.readText(`${folder}/hosts.toml`))).toEqual({
    server: `https://${host}`,
    host: { [`https://${host}`]: { capabilities: ['pull', 'resolve'], ca: `${folder}/ca.crt` } },
  });
  expect(await registryTrustDuty.run(agent)).toEqual({ status: 'settled' });
});

test.each([
  ['there is no registry', async () => undefined],
  [
    'nobody gave machines the right to look',
    async () => {
      throw kubernetesErrors.FORBIDDEN({ what: 'get it', server: 'api', reason: 'no' });
    },
  ],
  ['the signer is not made yet', async () => ({ data: { host } })],
  ['the name is no name of a host', async () => ({ data: { host: '../../x:5000', 'ca-bundle.crt': 'evil' } })],
])('nothing is written when %s', async (_, find) => {
  const agent = machine(find);
  expect(await registryTrustDuty.run(agent)).toEqual({ status: 'settled' });
  expect(await agent.host.files.list('/etc/containerd')).toBeUndefined();
});
