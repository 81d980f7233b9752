import { describe, expect, test } from 'vitest';
import { type FakeAgent, fakeAgent } from '../../../test/sim/agent-fixture.ts';
import {
  encryptionConfigurationText,
  newEncryptionKey,
  secretsEncryptionFile,
} from '../../contract/secrets-encryption.ts';
import { masterKeyFiles } from '../../control-plane/master-keys.ts';
import type { HttpRequest } from '../../host/network.ts';
import { issueSigner } from '../../pki/issue.ts';
import { signerProfiles } from '../../pki/profiles.ts';
import { keysDuty, redemptionFile } from './keys.ts';

const token = 'abcdef.0123456789abcdef';

/** A master before its first look, and what the config server answers it. */
async function newMaster(answer: (request: HttpRequest) => { status: number; body: string }) {
  const asked: HttpRequest[] = [];
  const agent = fakeAgent({
    network: {
      request: async (request) => {
        asked.push(request);
        const { status, body } = answer(request);
        return { status, headers: {}, body: Buffer.from(body) };
      },
    },
  });
  const { files } = agent.host;
  await files.makeFolder('/etc/kubernetes');
  await files.write('/etc/kubernetes/config-server-ca.crt', 'root-ca');
  await files.write('/etc/kubernetes/kubeconfig', `users: [{ name: kubelet, user: { token: ${token} } }]`);
  return { agent, asked };
}

function keySet(agent: FakeAgent): Record<string, string> {
  const made = issueSigner(signerProfiles['etcd-signer'], { random: agent.host.random, now: agent.host.clock.now() });
  const pems = masterKeyFiles.map((name) => [
    name,
    name.endsWith('.crt') ? made.certificatePem : made.key.privatePem.reveal(),
  ]);
  const encryption = encryptionConfigurationText([newEncryptionKey(agent.host.random, agent.host.clock.now())]);
  return { ...(Object.fromEntries(pems) as Record<string, string>), [secretsEncryptionFile]: encryption };
}

describe('the keys of a master', () => {
  test('are asked for with the token of this machine and the trust of root-ca alone, and kept from others', async () => {
    let body = '';
    const { agent, asked } = await newMaster(() => ({ status: 200, body }));
    body = JSON.stringify({ files: keySet(agent) });
    expect(await keysDuty.run(agent)).toEqual({ status: 'acted', did: 'received the signers' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      url: 'https://api-int.demo.firstlight.test:22623/keys/master',
      ca: 'root-ca',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': expect.stringMatching(/^[\w-]{43}$/) },
    });
    const modes = masterKeyFiles.map(
      async (name) => (await agent.host.files.facts(`/etc/kubernetes/pki/${name}`))?.mode,
    );
    expect(await Promise.all(modes)).toEqual(
      masterKeyFiles.map((name) => (/\.(key|json)$/.test(name) ? 0o600 : 0o644)),
    );
    expect((await agent.host.files.facts('/etc/kubernetes/pki'))?.mode).toBe(0o700);
    expect(await keysDuty.run(agent)).toEqual({ status: 'settled' });
    expect(asked).toHaveLength(1);
  });

  test('a request whose answer was lost is repeated as the same request, also after a crash', async () => {
    const { agent, asked } = await newMaster(() => ({ status: 503, body: '' }));
    await expect(keysDuty.run(agent)).rejects.toThrow('the config server answered 503');
    await expect(keysDuty.run({ ...agent, host: { ...agent.host } })).rejects.toThrow('503');
    const [first, second] = asked.map(({ headers }) => headers?.['idempotency-key']);
    expect(first).toBe(second);
    expect((await agent.host.files.facts(redemptionFile))?.mode).toBe(0o600);
  });

  test('half a set of keys is no set: nothing of it is written', async () => {
    let body = '';
    const { agent } = await newMaster(() => ({ status: 200, body }));
    const { 'kubelet-signer.key': _, ...rest } = keySet(agent);
    body = JSON.stringify({ files: rest });
    await expect(keysDuty.run(agent)).rejects.toThrow('kubelet-signer.key is not in the answer');
    expect(await agent.host.files.list('/etc/kubernetes/pki')).toBeUndefined();
  });

  test('a machine without a token waits for one', async () => {
    const { agent } = await newMaster(() => ({ status: 200, body: '{}' }));
    await agent.host.files.write('/etc/kubernetes/kubeconfig', 'users: [{ name: kubelet, user: {} }]');
    await expect(keysDuty.run(agent)).rejects.toThrow('a token in /etc/kubernetes/kubeconfig');
  });
});
