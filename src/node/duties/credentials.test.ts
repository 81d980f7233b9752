import { beforeEach, describe, expect, test } from 'vitest';
import { type FakeAgent, fakeAgent } from '../../../test/sim/agent-fixture.ts';
import { heldSigners } from '../../control-plane/machine-credentials.ts';
import { issueSigner } from '../../pki/issue.ts';
import { signerProfiles } from '../../pki/profiles.ts';
import { credentialsDuty } from './credentials.ts';

const dayMs = 86_400_000;
let agent: FakeAgent;
const leaf = (): Promise<string> => agent.host.files.readText('/etc/kubernetes/etcd/etcd-peer.crt');

beforeEach(async () => {
  agent = fakeAgent();
  const { files, random, clock } = agent.host;
  await files.makeFolder('/etc/kubernetes/pki');
  for (const name of heldSigners) {
    const { certificatePem, key } = issueSigner(signerProfiles[name], { random, now: clock.now() });
    await files.write(`/etc/kubernetes/pki/${name}.crt`, certificatePem);
    await files.write(`/etc/kubernetes/pki/${name}.key`, key.privatePem.reveal());
  }
  await files.write('/etc/kubernetes/pki/service-account.key', 'key');
  await files.write('/etc/kubernetes/pki/service-account.pub', 'public');
  await files.write('/etc/kubernetes/pki/secrets-encryption.json', '{}');
});

describe('the credentials of a master', () => {
  test('are made once and then left alone', async () => {
    expect(await credentialsDuty.run(agent)).toMatchObject({ status: 'acted' });
    const { changes } = agent.host.disk;
    expect(await credentialsDuty.run(agent)).toEqual({ status: 'settled' });
    expect(agent.host.disk.changes).toBe(changes);
  });

  test('a kubeconfig of a component names the files of its leaf, so that a renewal needs no restart', async () => {
    await credentialsDuty.run(agent);
    const text = await agent.host.files.readText('/etc/kubernetes/kube-scheduler/kubeconfig');
    expect(text).toContain('client-certificate: kube-scheduler.crt');
    expect(text).not.toContain('client-key-data');
  });

  test("a leaf that has grown old is not touched before it is this master's turn", async () => {
    await credentialsDuty.run(agent);
    const before = await leaf();
    agent.host.clock.advance(300 * dayMs);
    const outcome = await credentialsDuty.run(agent);
    expect(outcome).toMatchObject({ status: 'settled', note: expect.stringContaining('etcd-peer') });
    expect(await leaf()).toBe(before);
  });

  test('a leaf that has expired is made anew at once: there is nothing left to protect', async () => {
    await credentialsDuty.run(agent);
    const before = await leaf();
    agent.host.clock.advance(400 * dayMs);
    expect(await credentialsDuty.run(agent)).toMatchObject({ status: 'acted' });
    expect(await leaf()).not.toBe(before);
  });

  test('a machine whose address changed gets leaves for the new one', async () => {
    await credentialsDuty.run(agent);
    const moved = { ...agent, node: { ...agent.node, addresses: ['10.99.0.77'] } };
    const did = await credentialsDuty.run(moved);
    expect(did).toMatchObject({ status: 'acted', did: expect.stringContaining('etcd-server') });
  });
});
