// Secrets are encrypted in etcd from the first byte on, by a key that only masters hold. Everything is read straight
// from etcd by etcdctl, behind the back of kube-apiserver.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { componentHoldings } from '../../../src/control-plane/component-holdings.ts';
import { etcdctl } from '../fire/etcd-oracle.ts';
import { masters } from '../fire/fire-cluster.ts';
import { inside } from '../machine-lab.ts';
import { secretsOfFolder, whereOnDisks } from '../secret-search.ts';
import { type TrustCluster, trustKubectl } from './trust-cluster.ts';

const plainText = 'nobody-reads-this-in-etcd';

export function secretsEncryptionTopic(cluster: TrustCluster): void {
  test('a Secret is unreadable in etcd, and reads as it was written through the API', async () => {
    await trustKubectl(cluster, 'create', 'secret', 'generic', 'sealed', `--from-literal=word=${plainText}`);
    const [stored = Buffer.alloc(0)] = await storedValues(cluster, '/registry/secrets/default/sealed');
    expect(stored.subarray(0, 64).toString('latin1')).toContain(`k8s:enc:secretbox:v1:${keyNames(cluster)[0]}:`);
    expect(stored.includes(plainText)).toBe(false);
    const word = await trustKubectl(cluster, 'get', 'secret', 'sealed', '-o', 'jsonpath={.data.word}');
    expect(Buffer.from(word, 'base64').toString('utf8')).toBe(plainText);
    await trustKubectl(cluster, 'delete', 'secret', 'sealed');
  });

  test('so is every other Secret, also those that the bootstrap machine wrote first', async () => {
    const values = await storedValues(cluster, '/registry/secrets/', '--prefix');
    expect(values.length).toBeGreaterThan(0);
    const prefixes = values.map((value) => value.subarray(0, 21).toString('latin1'));
    expect(new Set(prefixes)).toEqual(new Set(['k8s:enc:secretbox:v1:']));
  });

  test('the key lies on masters alone, for root and kube-apiserver alone, and in no journal', async () => {
    const needles = secretsOfFolder(join(cluster.dir, 'tls'));
    const key = needles.get('secrets-encryption.json') ?? [];
    expect(key).toHaveLength(1);
    const found = whereOnDisks(cluster.infraId(), new Map([['key', key]]), cluster.folder);
    const owners = { 'kube-apiserver': componentHoldings['kube-apiserver'].uid, pki: 0 };
    const files = Object.entries(owners).map(
      ([folder, uid]) => [`/etc/kubernetes/${folder}/secrets-encryption.json`, uid] as const,
    );
    const everywhere = masters.flatMap((master) => files.map(([file]) => `${master}:/upper${file}`));
    expect(found.get('key')).toEqual(everywhere);
    for (const master of masters) {
      for (const [file, uid] of files) {
        expect((await inside(cluster.infraId(), master, `stat -c '%a %u' ${file}`)).trim()).toBe(`600 ${uid}`);
      }
    }
  });
}

/** The values under a key of etcd, or under a prefix, as they are stored. */
async function storedValues(cluster: TrustCluster, ...range: readonly string[]): Promise<readonly Buffer[]> {
  const where = { dir: cluster.dir, infraId: cluster.infraId() };
  const text = await etcdctl(where, 'master-0', 'get', ...range, '--write-out=json');
  const { kvs = [] } = JSON.parse(text ?? '{}') as { kvs?: readonly { value: string }[] };
  return kvs.map(({ value }) => Buffer.from(value, 'base64'));
}

/** The keys that the asset folder knows, the one that encrypts first. */
function keyNames(cluster: TrustCluster): readonly string[] {
  const text = readFileSync(join(cluster.dir, 'tls/secrets-encryption.json'), 'utf8');
  return [...text.matchAll(/"name": "([^"]+)"/g)].map(([, name = '']) => name);
}
