// Secrets are encrypted in etcd from the first byte on, by a key that only masters hold. Everything is read straight
// from etcd by etcdctl, behind the back of kube-apiserver.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { componentHoldings } from '../../../src/control-plane/component-holdings.ts';
import { etcdctl } from '../fire/etcd-oracle.ts';
import { masters } from '../fire/fire-cluster.ts';
import { isLong } from '../fire/long.ts';
import { cli, eventually, inside, startCli } from '../machine-lab.ts';
import { secretsOfFolder, whereOnDisks } from '../secret-search.ts';
import { stolenIdentity } from './machine-identity.ts';
import { useSecrets } from './secret-user.ts';
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

  test('the cluster publishes its keys to masters, and no node identity reads them', async () => {
    const wanted = await eventually('the keys in the cluster', 60, async () => {
      const { code, stdout } = await startCli(['secrets', 'status', '--dir', cluster.dir, '-o', 'json']).outcome;
      return code === 0
        ? (JSON.parse(stdout) as { keys: readonly { name: string }[]; isRotating: boolean })
        : undefined;
    });
    expect(wanted).toMatchObject({ keys: [{ name: keyNames(cluster)[0] }], isRotating: false });
    for (const machine of ['master-0', 'worker-0']) {
      const { kubectl } = await stolenIdentity(cluster, machine);
      const refused = await kubectl('-n', 'kube-system', 'get', 'secret', 'firstlight-secrets-encryption');
      expect(refused.text).toContain('forbidden');
    }
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

  describe.runIf(isLong)('the key', () => {
    declareRotation(cluster);
  });
}

/** Three minutes and more: kube-apiserver looks at its keys once a minute. */
function declareRotation(cluster: TrustCluster): void {
  test('is replaced while users write and read, by a command that is killed twice', async () => {
    const [before = ''] = keyNames(cluster);
    const oldKey = secretsOfFolder(join(cluster.dir, 'tls')).get('secrets-encryption.json') ?? [];
    const user = useSecrets(cluster);
    await killedAt(cluster, 'waiting for master-');
    expect(await trustKubectl(cluster, 'get', 'secrets', '-A', '-o', 'name')).toContain('secret/');
    await killedAt(cluster, 'Secrets are written again');
    const status = JSON.parse(await cli('secrets', 'status', '--dir', cluster.dir, '-o', 'json')) as object;
    expect(status).toMatchObject({ isRotating: true, keys: [{}, { name: before }] });
    const { key } = JSON.parse(await cli('secrets', 'rotate-key', '--dir', cluster.dir, '-o', 'json')) as {
      key: string;
    };
    const { refused, rounds } = await user.stop();
    expect(refused).toEqual([]);
    expect(rounds).toBeGreaterThan(50);
    expect(key).not.toBe(before);
    expect(keyNames(cluster)).toEqual([key]);
    const values = await storedValues(cluster, '/registry/secrets/', '--prefix');
    const prefix = `k8s:enc:secretbox:v1:${key}:`;
    expect(values.filter((value) => !value.subarray(0, prefix.length).equals(Buffer.from(prefix)))).toEqual([]);
    expect(whereOnDisks(cluster.infraId(), new Map([['old', oldKey]]), cluster.folder).get('old')).toEqual([]);
  });

  test('is not replaced while a master is down, and the command says which', async () => {
    const before = keyNames(cluster);
    await cli('machine', 'stop', '--cluster', cluster.infraId(), 'master-2');
    const refused = await startCli(['secrets', 'rotate-key', '--dir', cluster.dir]).outcome;
    await cli('machine', 'start', '--cluster', cluster.infraId(), 'master-2');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/waited \d+ s for master-2 to load the list of keys/);
    await cli('secrets', 'rotate-key', '--dir', cluster.dir);
    expect(keyNames(cluster)).not.toEqual(before);
  });
}

/** Starts the rotation and kills it when it says this. */
async function killedAt(cluster: TrustCluster, sentence: string): Promise<void> {
  const { child, outcome } = startCli(['secrets', 'rotate-key', '--dir', cluster.dir]);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (said.includes(sentence)) child.kill('SIGKILL');
  });
  const { code, stderr } = await outcome;
  expect(code, stderr).toBeNull();
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
