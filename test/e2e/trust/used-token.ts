// Somebody who copied the single-use token of a machine, and asks with it after the machine did: for the same name, by
// another key, while the machine joins and long after.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryConfigMap, inventoryKey } from '../../../src/contract/cluster-objects.ts';
import type { Inventory } from '../../../src/contract/inventory.ts';
import { ask, freshToken, type Stranger } from '../hostile-requests.ts';
import { eventually } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

const subject = '/O=system:nodes/CN=system:node:worker-8';
const inventoryArgs = ['configmap', inventoryConfigMap.name, `--namespace=${inventoryConfigMap.namespace}`];

interface TokenSecret {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
}

export function usedTokenTopic(cluster: TrustCluster): void {
  let stranger: Stranger;
  let token: string;
  let before: string;

  const putInventory = async (text: string): Promise<void> => {
    const patch = join(cluster.folder, 'inventory.json');
    writeFileSync(patch, JSON.stringify({ data: { [inventoryKey]: text } }));
    await trustKubectl(cluster, 'patch', ...inventoryArgs, '--type=merge', `--patch-file=${patch}`);
  };
  const secretArgs = (): readonly string[] => ['secret', `bootstrap-token-${token.slice(0, 6)}`, '-n', 'kube-system'];
  const refusalOf = (name: string): Promise<string> =>
    eventually(`a word about ${name}`, 20, async () => {
      const about = ['--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}'];
      const said = await trustKubectl(cluster, 'get', 'events', ...about);
      return said === '' ? undefined : said;
    });

  beforeAll(async () => {
    stranger = { dir: cluster.dir, infraId: cluster.infraId(), scratch: cluster.folder };
    const { data } = await trustKubectlJson<{ data: Readonly<Record<string, string>> }>(
      cluster,
      'get',
      ...inventoryArgs,
    );
    before = data[inventoryKey] ?? '';
    const inventory = JSON.parse(before) as Inventory;
    // A machine that is expected and does not run, at the address that the token will be issued to.
    const { addresses = [] } = inventory.machines.find(({ name }) => name === 'worker-0') ?? {};
    const expected = { name: 'worker-8', role: 'worker', addresses } as const;
    await putInventory(JSON.stringify({ ...inventory, machines: [...inventory.machines, expected] }));
    // Another topic may have used up the share of this address; a server forgets that after seconds.
    token = await eventually('a token', 30, () => freshToken(stranger, 'worker-0').catch(() => undefined));
  });

  afterAll(async () => {
    await putInventory(before);
    await trustKubectl(cluster, 'delete', ...secretArgs(), '--ignore-not-found');
    await trustKubectl(cluster, 'delete', 'csr', '--ignore-not-found', 'used-first', 'used-second', 'used-later');
  });

  test('a token is taken by the key of its first request', async () => {
    await eventually('a certificate of worker-8', 20, async () => {
      // Whether the approver has seen the new inventory yet, nobody knows; the same request is decided again.
      await ask(stranger, token, { name: 'used-first', subject });
      const certificate = ['get', 'csr', 'used-first', '-o', 'jsonpath={.status.certificate}'];
      return (await trustKubectl(cluster, ...certificate)) === '' ? undefined : true;
    });
    const { metadata } = await trustKubectlJson<TokenSecret>(cluster, 'get', ...secretArgs());
    const request = await trustKubectl(cluster, 'get', 'csr', 'used-first', '-o', 'jsonpath={.spec.request}');
    const pem = execFileSync('openssl', ['req', '-noout', '-pubkey'], { input: Buffer.from(request, 'base64') });
    const der = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'DER'], { input: pem });
    expect(metadata.annotations).toMatchObject({
      'firstlight.io/used-by': 'worker-8',
      'firstlight.io/used-by-key': createHash('sha256').update(der).digest('hex'),
    });
  });

  test('and never works for another key, not even for the same name', async () => {
    await ask(stranger, token, { name: 'used-second', subject });
    expect(await refusalOf('used-second')).toContain('was used before, by worker-8');
    const longAgo = new Date(Date.now() - 1_800_000).toISOString();
    await trustKubectl(cluster, 'annotate', '--overwrite', ...secretArgs(), `firstlight.io/used-at=${longAgo}`);
    await ask(stranger, token, { name: 'used-later', subject });
    expect(await refusalOf('used-later')).toContain('was used before, by worker-8');
    for (const name of ['used-second', 'used-later']) {
      expect(await trustKubectl(cluster, 'get', 'csr', name, '-o', 'jsonpath={.status.conditions}')).toBe('');
    }
  });
}
