import { beforeAll, expect, test } from 'vitest';
import { copyOfMachine, type MachineWithApi, renderedMachine, runOn } from '../../../test/machine-with-api.ts';
import { type EtcdRestore, etcdRestoreFile, etcdRestoreText } from '../../contract/etcd-restore.ts';
import { etcdDataFolder } from '../../contract/machine-paths.ts';
import { renderStages } from '../render-stages.ts';
import { clusterBootstrap } from '../stages/13-cluster-bootstrap.ts';
import { versionOverrides } from '../stages/14-version-overrides.ts';

const restore: EtcdRestore = {
  id: '0011223344556677',
  beganAt: '2026-01-01T00:00:00.000Z',
  snapshot: { sha256: 'a'.repeat(64), sizeBytes: 20, revision: 812 },
};
const before = '2025-12-31T00:00:00Z';
const seeding = [...renderStages, clusterBootstrap, versionOverrides];

let restored: MachineWithApi;
/** A machine whose etcd has its data, beside an API with what the backup had. */
beforeAll(async () => {
  restored = await renderedMachine(async ({ files }) => {
    await files.write(etcdRestoreFile, etcdRestoreText(restore));
    const wal = Buffer.from([0x0a, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x01, 0x10, 0x00, 0x1a, 0x04, 0x08, 0x01, 0x10, 0x02]);
    await files.makeFolder(`${etcdDataFolder}/member/wal`);
    await files.write(`${etcdDataFolder}/member/wal/0.wal`, wal);
  });
  const { api, context } = restored;
  const own = { creationTimestamp: before };
  for (const name of ['master-0', 'worker-0']) api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...own } });
  const overrides = [{ kind: 'Deployment', group: 'apps', namespace: 'a', name: 'b', unmanaged: true }];
  const spec = { clusterID: context.clusterId, overrides };
  api.put({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { name: 'version', ...own },
    spec,
  });
  const namespace = 'kube-system';
  for (const name of ['firstlight-inventory', 'etcd-endpoints', 'coredns']) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...own }, data: {} };
    api.objects.set(`/api/v1/namespaces/${namespace}/configmaps/${name}`, object);
  }
  const tokens = { name: 'firstlight-pool-tokens', namespace, ...own };
  api.objects.set(`/api/v1/namespaces/${namespace}/secrets/${tokens.name}`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: tokens,
    data: { 'pool-tokens.json': Buffer.from('{}').toString('base64') },
  });
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'etcd-membership', namespace, ...own },
    spec: { holderIdentity: 'master-1-4', renewTime: before },
  };
  api.objects.set(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/etcd-membership`, lease);
});

test('a restored cluster loses what is of its lost masters, and nothing else is written over', async () => {
  const machine = await copyOfMachine(restored);
  const { api } = machine;
  const untouched = ['ClusterVersion version', 'Node worker-0', 'ConfigMap coredns'] as const;
  const find = (words: string) => api.find(...(words.split(' ') as [string, string]));
  const had = untouched.map(find);
  await runOn(machine, seeding);
  expect(find('Node master-0')).toBeUndefined();
  expect(find('ConfigMap etcd-endpoints')).toBeUndefined();
  expect(untouched.map(find)).toEqual(had);
  expect(api.find('Lease', 'etcd-membership')?.['spec']).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  const tokens = api.find('Secret', 'firstlight-pool-tokens')?.['data'] as Readonly<Record<string, string>> | undefined;
  const digests = JSON.parse(Buffer.from(tokens?.['pool-tokens.json'] ?? '', 'base64').toString('utf8')) as object;
  expect(Object.keys(digests)).toEqual(['master', 'worker']);
  // Beside them only the inventory was written: the folder knows which machines there are.
  expect(JSON.stringify(api.find('ConfigMap', 'firstlight-inventory')?.['data'])).toContain('master-2');
  expect(api.objects.size).toBe(restored.api.objects.size - 2);
});

test('a second run, after a new master has joined, leaves its Node', async () => {
  const machine = await copyOfMachine(restored);
  await runOn(machine, seeding);
  const creationTimestamp = '2026-01-01T00:00:09Z';
  const metadata = { name: 'master-0', creationTimestamp };
  machine.api.put({ apiVersion: 'v1', kind: 'Node', metadata });
  await machine.host.files.remove('/etc/kubernetes/manifests/kube-scheduler-pod.yaml');
  await runOn(machine, seeding);
  expect(machine.api.find('Node', 'master-0')).toBeDefined();
});
