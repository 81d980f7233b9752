import { describe, expect, onTestFinished, test } from 'vitest';
import { samplePayload, VersionWorld, type VersionWorldOptions } from './version-world.ts';

async function worldWith(options: VersionWorldOptions = {}): Promise<VersionWorld> {
  const world = await VersionWorld.make(options);
  onTestFinished(() => world.end());
  return world;
}

async function settledWorld(options: VersionWorldOptions = {}): Promise<VersionWorld> {
  const world = await worldWith(options);
  world.start();
  await world.until('the release is applied', () => world.isSettled());
  return world;
}

const driftMs = 30_000;
const included = { 'include.release.openshift.io/self-managed-high-availability': 'true' };

describe('the first pass', () => {
  test('brings every object with the values of the cluster, and ends in Reconciling', async () => {
    const world = await settledWorld();
    expect(world.api.find('services', 'dns', 'dns')?.['spec']).toMatchObject({ clusterIP: '172.30.0.10' });
    expect(JSON.stringify(world.api.find('deployments', 'coredns', 'dns'))).toContain(
      '--domain=apps.demo.firstlight.test',
    );
    expect(world.condition('Available')).toEqual({
      status: 'True',
      reason: 'AsExpected',
      message: 'Done applying 0.2.0',
    });
    expect(world.condition('Progressing')?.message).toBe('Cluster version is 0.2.0');
    expect(world.condition('Failing')?.status).toBe('False');
    expect(world.condition('ReleaseAccepted')?.status).toBe('True');
    expect(world.version.status?.history).toMatchObject([{ state: 'Completed', version: '0.2.0' }]);
    expect(world.operatorStatus('dns')?.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Available=True',
      'Progressing=False',
      'Degraded=False',
    ]);
  });

  test('has every object owned by the ClusterVersion', async () => {
    const world = await settledWorld();
    const owners = world.api.find('configmaps', 'corefile', 'dns')?.metadata['ownerReferences'];
    expect(owners).toEqual([expect.objectContaining({ kind: 'ClusterVersion', uid: world.version.metadata.uid })]);
  });

  test('says what it waits for while the configuration of the cluster is missing', async () => {
    const world = await worldWith({ isBare: true });
    world.start();
    const words = 'Working towards 0.2.0: waiting for Infrastructure cluster, Network cluster, Ingress cluster';
    await world.until('it waits', () => world.condition('Progressing')?.message === words, 10_000);
    expect(world.api.find('namespaces', 'dns')).toBeUndefined();
    world.configure();
    await world.until('it goes on', () => world.isSettled());
  });

  test('is done when everything was tried once, long before slow operators are available', async () => {
    const world = await worldWith();
    world.readyMs = 60_000;
    world.start();
    const tookMs = await world.until('the first pass', () => world.condition('FirstPassDone')?.status === 'True');
    expect(tookMs).toBeLessThan(5_000);
    expect(world.condition('Available')?.status).toBe('False');
    expect(world.condition('Progressing')?.message).toMatch(/done \(\d+% complete\), waiting on dns, storage$/);
    await world.until('the release is applied', () => world.isSettled());
    expect(world.condition('FirstPassDone')?.status).toBe('True');
  });

  test('goes on around a broken manifest, and names file and place', async () => {
    const payload = {
      ...samplePayload,
      '0000_60_broken_00_a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n',
      '0000_60_broken_01_b.yaml': [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'behind', annotations: included } },
      ],
    };
    const world = await worldWith({ payload });
    world.start();
    await world.until('everything else', () => world.operatorStatus('dns')?.conditions[0]?.status === 'True');
    await world.until('it is said', () => world.condition('Failing')?.status === 'True');
    expect(world.condition('Failing')?.reason).toBe('UpdatePayloadIntegrity');
    expect(world.condition('Failing')?.message).toMatch(/0000_60_broken_00_a\.yaml:\d+:\d+ {2}not YAML/);
    expect(world.api.find('namespaces', 'behind')).toBeDefined();
    expect(world.condition('FirstPassDone')?.status).toBe('True');
  });

  test('names an object that the API refuses, with its file', async () => {
    const world = await worldWith();
    world.api.refused = ({ metadata }) => (metadata.name === 'corefile' ? 'data: Invalid value' : undefined);
    world.start();
    await world.until('it is said', () => world.condition('Failing')?.status === 'True');
    expect(world.condition('Failing')).toEqual({
      status: 'True',
      reason: 'UpdatePayloadResourceInvalid',
      message:
        'Could not update ConfigMap dns/corefile (0000_70_dns_01_all.yaml#1): cannot apply ConfigMap dns/corefile: data: Invalid value',
    });
    expect(world.api.find('services', 'dns', 'dns')).toBeDefined();
    world.api.refused = () => undefined;
    await world.until('it is cured', () => world.isSettled());
    expect(world.condition('Failing')?.status).toBe('False');
  });
});

describe('drift', () => {
  const kinds = [
    ['ConfigMap', 'configmaps', 'corefile', 'dns', { data: { Corefile: 'mine' } }],
    ['Deployment', 'deployments', 'coredns', 'dns', { spec: { replicas: 7 } }],
    ['Service', 'services', 'dns', 'dns', { spec: { clusterIP: '1.2.3.4' } }],
    [
      'ServiceAccount',
      'serviceaccounts',
      'dns',
      'dns',
      { metadata: { annotations: { ...included, [Object.keys(included)[0] ?? '']: 'no' } } },
    ],
    ['ClusterRole', 'clusterroles', 'dns', '', { rules: [{ verbs: ['*'] }] }],
    ['CustomResourceDefinition', 'customresourcedefinitions', 'demos.demo.test', '', { spec: { scope: 'Namespaced' } }],
    ['Namespace', 'namespaces', 'dns', '', { metadata: { ownerReferences: [] } }],
  ] as const;

  test.each(kinds)('a changed %s is put right within 30 s', async (_kind, resource, name, namespace, patch) => {
    const world = await settledWorld();
    const before = world.objects();
    world.api.patch(resource, name, patch, namespace);
    expect(world.objects()).not.toEqual(before);
    const tookMs = await world.until('it is put right', () => isEqual(world.objects(), before), driftMs);
    expect(tookMs).toBeLessThanOrEqual(driftMs);
  });

  test.each(kinds)('a deleted %s is made again within 30 s', async (_kind, resource, name, namespace) => {
    const world = await settledWorld();
    world.api.delete(resource, name, namespace);
    const isBack = (): boolean => world.api.find(resource, name, namespace) !== undefined;
    expect(await world.until('it is made again', isBack, driftMs)).toBeLessThanOrEqual(driftMs);
  });

  test('an item taken from a list, and one put into it, are put right', async () => {
    const world = await settledWorld();
    for (const rules of [[], [{ verbs: ['list', 'watch'] }, { verbs: ['*'] }]]) {
      world.api.patch('clusterroles', 'dns', { rules });
      const isRight = (): boolean =>
        JSON.stringify(world.api.find('clusterroles', 'dns')?.['rules']) === '[{"verbs":["list","watch"]}]';
      expect(await world.until('it is put right', isRight, driftMs)).toBeLessThanOrEqual(driftMs);
    }
  });

  test('what others add is kept, also in a list of named items, and is not fought over', async () => {
    const world = await settledWorld();
    const live = world.api.find('deployments', 'coredns', 'dns');
    const own = (live?.['spec'] as { template: { spec: { containers: object[] } } } | undefined)?.template.spec
      .containers;
    const containers = [...(own ?? []), { name: 'sidecar', image: 'mine' }];
    world.api.patch('deployments', 'coredns', { spec: { paused: true, template: { spec: { containers } } } }, 'dns');
    world.api.patch('configmaps', 'corefile', { data: { mine: 'x' }, metadata: { labels: { mine: 'x' } } }, 'dns');
    await world.host.clock.sleep(60_000);
    expect(world.api.find('configmaps', 'corefile', 'dns')).toMatchObject({
      data: { Corefile: '.:53', mine: 'x' },
      metadata: { labels: { mine: 'x' } },
    });
    expect(world.api.find('deployments', 'coredns', 'dns')?.['spec']).toMatchObject({
      paused: true,
      template: { spec: { containers } },
    });
    const before = world.api.log.length;
    await world.host.clock.sleep(300_000);
    expect(writesSince(world, before)).toEqual([]);
  });

  test('an idle cluster is written nothing but the Lease', async () => {
    const world = await settledWorld();
    await world.host.clock.sleep(60_000);
    const before = world.api.log.length;
    await world.host.clock.sleep(600_000);
    expect(writesSince(world, before)).toEqual([]);
  });

  test('an override leaves its object alone, says that no other release can come, and ends when it is removed', async () => {
    const world = await settledWorld();
    const override = { group: '', kind: 'ConfigMap', namespace: 'dns', name: 'corefile', unmanaged: true };
    world.api.patch('clusterversions', 'version', { spec: { overrides: [override] } });
    await world.until('it is seen', () => world.condition('Upgradeable')?.status === 'False', 5_000);
    expect(world.condition('Upgradeable')?.reason).toBe('ClusterVersionOverridesSet');
    world.api.patch('configmaps', 'corefile', { data: { Corefile: 'mine' } }, 'dns');
    await world.host.clock.sleep(120_000);
    expect(world.api.find('configmaps', 'corefile', 'dns')?.['data']).toEqual({ Corefile: 'mine' });
    world.api.patch('clusterversions', 'version', { spec: { overrides: [] } });
    const isRight = (): boolean =>
      JSON.stringify(world.api.find('configmaps', 'corefile', 'dns')?.['data']) === '{"Corefile":".:53"}';
    await world.until('it is put right', isRight, driftMs);
  });
});

describe('objects that are not simply kept', () => {
  const configMap = (name: string, annotations: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'dns', annotations: { ...included, ...annotations } },
    data: { from: 'the release' },
  });

  test('one that is made once is the user’s from then on', async () => {
    const once = configMap('once', { 'release.openshift.io/create-only': 'true' });
    const world = await settledWorld({ payload: { ...samplePayload, '0000_80_x_00_once.yaml': [once] } });
    expect(world.api.find('configmaps', 'once', 'dns')?.['data']).toEqual({ from: 'the release' });
    world.api.patch('configmaps', 'once', { data: { from: 'the user' } }, 'dns');
    await world.host.clock.sleep(60_000);
    expect(world.api.find('configmaps', 'once', 'dns')?.['data']).toEqual({ from: 'the user' });
    world.api.delete('configmaps', 'once', 'dns');
    await world.until('it is made again', () => world.api.find('configmaps', 'once', 'dns') !== undefined, driftMs);
  });

  test('one that the release removes goes only where an operator has brought it', async () => {
    const gone = ['ours', 'theirs'].map((name) => configMap(name, { 'release.openshift.io/delete': 'true' }));
    const world = await worldWith({ payload: { ...samplePayload, '0000_80_x_00_gone.yaml': gone } });
    const { apiVersion, kind } = gone[0] ?? configMap('', {});
    const ownerReferences = [
      { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', name: 'version', uid: 'x' },
    ];
    world.api.put('configmaps', { apiVersion, kind, metadata: { name: 'ours', namespace: 'dns', ownerReferences } });
    world.api.put('configmaps', { apiVersion, kind, metadata: { name: 'theirs', namespace: 'dns' } });
    world.start();
    await world.until('the release is applied', () => world.isSettled());
    expect(world.api.find('configmaps', 'ours', 'dns')).toBeUndefined();
    expect(world.api.find('configmaps', 'theirs', 'dns')).toBeDefined();
  });

  test('one with a value that nobody knows fails by name and is not applied', async () => {
    const strange = { ...configMap('strange', {}), data: { from: '{{NOBODY_KNOWS}}' } };
    const world = await worldWith({ payload: { ...samplePayload, '0000_80_x_00_strange.yaml': [strange] } });
    world.start();
    await world.until('it is said', () => world.condition('Failing')?.status === 'True');
    expect(world.condition('Failing')?.message).toBe(
      'Could not read 0000_80_x_00_strange.yaml#1  {{NOBODY_KNOWS}} is a value that this version operator does not know',
    );
    expect(world.api.find('configmaps', 'strange', 'dns')).toBeUndefined();
  });
});

describe('operators and capabilities', () => {
  test('a capability that is off brings nothing and has no ClusterOperator; on, it comes; off again, it stays', async () => {
    const world = await settledWorld({ spec: { capabilities: { disabledCapabilities: ['Storage'] } } });
    expect(world.api.find('namespaces', 'storage')).toBeUndefined();
    expect(world.api.find('clusteroperators', 'storage')).toBeUndefined();
    expect(world.condition('ImplicitlyEnabledCapabilities')?.status).toBe('False');

    world.api.patch('clusterversions', 'version', { spec: { capabilities: { disabledCapabilities: [] } } });
    await world.until('it comes', () => world.operatorStatus('storage')?.conditions[0]?.status === 'True', driftMs);
    expect(world.version.status?.capabilities?.enabledCapabilities).toContain('Storage');

    world.api.patch('clusterversions', 'version', { spec: { capabilities: { disabledCapabilities: ['Storage'] } } });
    await world.until('it is said', () => world.condition('ImplicitlyEnabledCapabilities')?.status === 'True', 5_000);
    world.api.delete('deployments', 'provisioner', 'storage');
    const isBack = (): boolean => world.api.find('deployments', 'provisioner', 'storage') !== undefined;
    await world.until('it is still kept', isBack, driftMs);

    world.api.patch('clusterversions', 'version', { spec: { capabilities: { disabledCapabilities: [] } } });
    await world.until(
      'it is wanted again',
      () => world.condition('ImplicitlyEnabledCapabilities')?.status === 'False',
      5_000,
    );
  });

  test('an operator that is degraded is reported and keeps nothing else back while initializing', async () => {
    const world = await worldWith();
    world.start();
    const isThere = (): boolean => world.api.find('deployments', 'coredns', 'dns') !== undefined;
    await world.until('its Deployment', isThere);
    world.api.patch('deployments', 'coredns', { metadata: { labels: { trouble: 'one replica crashes' } } }, 'dns');
    await world.until('it is said', () => world.condition('Failing')?.reason === 'ClusterOperatorDegraded');
    expect(world.condition('Failing')?.message).toBe('Cluster operator dns is degraded: one replica crashes');
    expect(world.condition('FirstPassDone')?.status).toBe('True');
    expect(world.operatorStatus('storage')?.conditions[0]?.status).toBe('True');
    world.api.patch('deployments', 'coredns', { metadata: { labels: { trouble: null } } }, 'dns');
    await world.until('it is cured', () => world.isSettled());
  });

  test('a Deployment that loses its replicas is said by its operator at once and by the version when it lasts', async () => {
    const world = await settledWorld();
    const conditions = (status: string): object => ({
      status: {
        conditions: [
          { type: 'Available', status },
          { type: 'Progressing', status },
        ],
      },
    });
    world.api.patch('deployments', 'coredns', conditions('False'), 'dns');
    const isSaid = (): boolean => world.operatorStatus('dns')?.conditions[0]?.status === 'False';
    expect(await world.until('its operator says so', isSaid)).toBeLessThanOrEqual(10_500);
    expect(world.condition('Failing')?.status).toBe('False');
    await world.until('the version says so', () => world.condition('Failing')?.status === 'True', 60_000);
    expect(world.condition('Available')?.status).toBe('True');
    world.api.patch('deployments', 'coredns', conditions('True'), 'dns');
    await world.until('it is cured', () => world.condition('Failing')?.status === 'False', 60_000);
  });

  test('another release is not taken, with the reason', async () => {
    const world = await settledWorld();
    world.api.patch('clusterversions', 'version', { spec: { desiredUpdate: { version: '0.3.0' } } });
    await world.until('it is said', () => world.condition('ReleaseAccepted')?.status === 'False', 5_000);
    expect(world.condition('ReleaseAccepted')).toMatchObject({ reason: 'RetrievePayload' });
    expect(world.condition('Progressing')?.message).toBe('Cluster version is 0.2.0');
  });
});

test('another release than the one before is brought level by level, each when its operators have the new version', async () => {
  const world = await worldWith();
  const history = [
    { state: 'Completed', version: '0.1.0', image: 'old', startedTime: '', completionTime: '', verified: false },
  ];
  world.api.patch('clusterversions', 'version', { status: { history } });
  world.start();
  const isDone = (): boolean => {
    const [newest] = world.version.status?.history ?? [];
    return newest?.version === '0.2.0' && newest.state === 'Completed';
  };
  await world.until('the release is applied', isDone);
  const made = world.api.log
    .filter(({ type, resource }) => type === 'ADDED' && ['namespaces', 'deployments'].includes(resource))
    .map(({ object }) => `${object.kind} ${object.metadata.name}`);
  expect(made.slice(1)).toEqual(['Namespace dns', 'Namespace storage', 'Deployment provisioner', 'Deployment coredns']);
  const isStorageReady = world.api.log.findIndex(
    ({ resource, object }) => resource === 'clusteroperators' && JSON.stringify(object).includes('all replicas answer'),
  );
  const isDnsBegun = world.api.log.findIndex(({ object }) => object.metadata.name === 'coredns');
  expect(isStorageReady).toBeLessThan(isDnsBegun);
  expect(world.version.status?.history?.map(({ version, state }) => `${version} ${state}`)).toEqual([
    '0.2.0 Completed',
    '0.1.0 Completed',
  ]);
});

describe('the status', () => {
  test('never goes back: the fraction only grows, and no condition changes its mind', async () => {
    const world = await worldWith();
    world.readyMs = 45_000;
    world.start();
    await world.until('the release is applied', () => world.isSettled());
    await world.host.clock.sleep(120_000);
    const seen = (type: string): readonly string[] =>
      world.statuses
        .map(({ status }) => status?.conditions?.find((each) => each.type === type)?.status ?? '')
        .filter((status, at, all) => status !== '' && status !== all[at - 1]);
    expect([seen('Available'), seen('Progressing'), seen('Failing'), seen('FirstPassDone')]).toEqual([
      ['False', 'True'],
      ['True', 'False'],
      ['False'],
      ['False', 'True'],
    ]);
    const fractions = world.statuses.flatMap(({ status }) => {
      const message = status?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '';
      return /: (\d+) of/.exec(message)?.slice(1).map(Number) ?? [];
    });
    expect(fractions).toEqual(fractions.toSorted((one, other) => one - other));
  });
});

test('an operator that is killed at any of its writes ends, started again, in the same objects', async () => {
  const undisturbed = await settledWorld();
  const wanted = undisturbed.objects();
  for (let write = 1; write <= 30; write += 1) {
    const world = await VersionWorld.make();
    await world.start(write).killed;
    world.start();
    await world.until(`the release is applied after write ${write}`, () => world.isSettled());
    await world.host.clock.sleep(30_000);
    expect(world.objects(), `killed at write ${write}`).toEqual(wanted);
    await world.end();
  }
});

test('it ends at once when it is told to, and gives the Lease back', async () => {
  const world = await settledWorld();
  const startMs = world.host.clock.monotonicMs();
  await world.end();
  expect(world.host.clock.monotonicMs() - startMs).toBeLessThan(1_000);
  const lease = world.api.find('leases', 'cluster-version-operator', 'openshift-cluster-version');
  expect(lease?.['spec']).not.toHaveProperty('holderIdentity');
});

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function writesSince({ api }: VersionWorld, from: number): readonly string[] {
  return api.log
    .slice(from)
    .filter(({ resource }) => resource !== 'leases')
    .map(({ type, resource, object }) => `${type} ${resource} ${object.metadata.name}`);
}
