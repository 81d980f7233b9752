// The version operator keeps the release true: what somebody changes is put right, what an override names is left alone,
// what users have is never touched, and an operator that is killed is followed by one that goes on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { note } from '../fire/figures.ts';
import { isLong } from '../fire/long.ts';
import { eventually, inside, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import {
  applyFile,
  clusterVersion,
  conditionText,
  patchVersion,
  releaseInfo,
  untilOperatorsRest,
  valueAt,
} from './operator-lab.ts';

const operators = [
  'authentication',
  'dns',
  'etcd',
  'ingress',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'machine-config',
  'metrics',
  'network',
  'registry',
  'storage',
];

/** From a change to its correction. */
const secondsToPutRight = 30;

interface Drift {
  readonly what: string;
  readonly object: readonly string[];
  /** The part of it that is compared before and after. */
  readonly path: string;
  /** Arguments of kubectl. */
  readonly change: readonly string[];
}

const named = (namespace: string, kind: string, name: string): readonly string[] => [kind, name, '-n', namespace];
const provisioner = named('kube-system', 'deployment', 'local-path-provisioner');
const moreRights = [{ op: 'replace', path: '/rules/0/verbs', value: ['get', 'list', 'watch', 'delete'] }];

const drifts: readonly Drift[] = [
  {
    what: 'a changed field of a Deployment',
    object: provisioner,
    path: '.spec.template.spec.containers[0].resources.limits.memory',
    change: ['set', 'resources', ...provisioner, '--limits=memory=99Mi'],
  },
  {
    what: 'a removed ConfigMap',
    object: named('kube-system', 'configmap', 'local-path-config'),
    path: '.data',
    change: ['delete', ...named('kube-system', 'configmap', 'local-path-config')],
  },
  {
    what: 'a changed rule of a ClusterRole',
    object: ['clusterrole', 'firstlight:coredns'],
    path: '.rules',
    change: ['patch', 'clusterrole', 'firstlight:coredns', '--type=json', '-p', JSON.stringify(moreRights)],
  },
  {
    what: 'a removed Service',
    object: named('openshift-image-registry', 'service', 'registry'),
    path: '.spec.ports',
    change: ['delete', ...named('openshift-image-registry', 'service', 'registry')],
  },
];

export function versionOperatorTopic(cluster: TrustCluster): void {
  declareWords(cluster);
  describe('drift', () => {
    declareDrift(cluster);
  });
  describe('an operator that ends', () => {
    declareEnds(cluster);
  });
}

function declareWords(cluster: TrustCluster): void {
  test('kubectl shows the release and its operators in the columns of the original, all of them well', async () => {
    const { version } = await releaseInfo();
    const rows = await untilOperatorsRest(cluster, 90);
    const [header = ''] = (await trustKubectl(cluster, 'get', 'clusteroperators')).split('\n');
    expect(header.trimEnd()).toMatch(/^NAME +VERSION +AVAILABLE +PROGRESSING +DEGRADED +SINCE +MESSAGE$/);
    expect(rows.map((row) => row.split(/ +/).slice(0, 5))).toEqual(
      operators.map((name) => [name, version, 'True', 'False', 'False']),
    );
    const [columns = '', row = ''] = (await trustKubectl(cluster, 'get', 'clusterversion')).split('\n');
    expect(columns.trimEnd()).toMatch(/^NAME +VERSION +AVAILABLE +PROGRESSING +SINCE +STATUS$/);
    expect(row.split(/ +/).slice(0, 4)).toEqual(['version', version, 'True', 'False']);
    expect(row.trimEnd()).toMatch(new RegExp(` Cluster version is ${version}$`));
  });

  test('the history has one release, completed, by the digest under which machines have its image', async () => {
    const { version } = await releaseInfo();
    const { status } = await clusterVersion(cluster);
    expect(status.history).toMatchObject([{ state: 'Completed', version }]);
    const image = status.history[0]?.image ?? '';
    expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
    const images = await inside(cluster.infraId(), 'master-0', 'ctr --namespace k8s.io images ls -q');
    expect(images.split('\n')).toContain(image);
  });

  test('nobody deletes the ClusterVersion, which owns all of it', async () => {
    const refused = await startCli([
      'kubectl',
      '--dir',
      cluster.dir,
      'delete',
      'clusterversion',
      'version',
      '--dry-run=server',
    ]).outcome;
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('keep-clusterversion.firstlight.io');
  });
}

/** An override for the zones of CoreDNS, and what a user has beside the objects of the release. */
const zones = named('kube-system', 'configmap', 'coredns');
const own = named('kube-system', 'configmap', 'proof-of-a-user');
const ownObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: own[1], namespace: 'kube-system', labels: { app: 'local-path-provisioner' } },
  data: { word: 'of a user' },
};
const override = { group: '', kind: 'ConfigMap', namespace: 'kube-system', name: 'coredns', unmanaged: true };
const noteOfRelease = '.data.0-note\\.server';
const otherNote = JSON.stringify({ data: { '0-note.server': '# changed by somebody\n' } });

function declareDrift(cluster: TrustCluster): void {
  const read = ({ object, path }: Pick<Drift, 'object' | 'path'>): Promise<string> => valueAt(cluster, object, path);
  let before: readonly string[] = [];
  let zonesBefore = '';
  let ownBefore = '';

  beforeAll(async () => {
    await applyFile(cluster, 'own', [ownObject]);
    await trustKubectl(cluster, 'label', ...provisioner, 'proof.example/mine=yes');
    before = await Promise.all(drifts.map(read));
    zonesBefore = await valueAt(cluster, zones, noteOfRelease);
    ownBefore = await valueAt(cluster, own, '.metadata');
    await patchVersion(cluster, { overrides: [override] });
    await trustKubectl(cluster, 'patch', ...zones, '--type=merge', '-p', otherNote);
  });

  afterAll(async () => {
    await patchVersion(cluster, { overrides: null });
    await trustKubectl(cluster, 'label', ...provisioner, 'proof.example/mine-');
    await trustKubectl(cluster, 'delete', ...own, '--ignore-not-found');
  });

  test(`of a Deployment, a ConfigMap, rights and a Service is put right within ${secondsToPutRight} s`, async () => {
    expect(before).not.toContain('');
    const startMs = performance.now();
    await Promise.all(
      drifts.map(async (drift, at) => {
        await trustKubectl(cluster, ...drift.change);
        await eventually(`that ${drift.what} is put right`, secondsToPutRight, async () =>
          (await read(drift)) === before[at] ? true : undefined,
        );
      }),
    );
    note('drift of four objects of the release, put right', startMs);
  });

  test('of what an override names stays, and says so; other fields and objects of users stay too', async () => {
    // Whatever a pass still had to do when it put the others right, it has done by now.
    await new Promise((done) => setTimeout(done, isLong ? 25_000 : 3_000));
    expect(await valueAt(cluster, zones, noteOfRelease)).toContain('changed by somebody');
    const said = conditionText(await clusterVersion(cluster), 'Upgradeable');
    expect(said).toMatch(/^False \(ClusterVersionOverridesSet\): .*ConfigMap kube-system\/coredns/);
    expect(await valueAt(cluster, provisioner, '.metadata.labels.proof\\.example/mine')).toBe('yes');
    expect(await valueAt(cluster, own, '.metadata')).toBe(ownBefore);
  });

  test('is put right again when the override goes', async () => {
    await patchVersion(cluster, { overrides: null });
    await eventually('the file of the release', secondsToPutRight, async () =>
      (await valueAt(cluster, zones, noteOfRelease)) === zonesBefore ? true : undefined,
    );
    await eventually('that Upgradeable is True', secondsToPutRight, async () =>
      conditionText(await clusterVersion(cluster), 'Upgradeable').startsWith('True ') ? true : undefined,
    );
    expect(await untilOperatorsRest(cluster, 60)).toHaveLength(operators.length);
  });
}

const operatorPods = ['pods', '-n', 'openshift-cluster-version', '-l', 'k8s-app=cluster-version-operator'];
const lease = named('openshift-cluster-version', 'lease', 'cluster-version-operator');
const clusterKinds = 'clusterroles,clusterrolebindings,crds,storageclasses,ingressclasses,apiservices,namespaces';
const namespacedKinds = 'deployments,services,configmaps,serviceaccounts,roles,rolebindings,pvc,pdb';

/** `KIND NAMESPACE/NAME UID` of everything that the ClusterVersion owns. */
async function ownedObjects(cluster: TrustCluster): Promise<readonly string[]> {
  const { items } = await trustKubectlJson<{
    items: readonly {
      kind: string;
      metadata: { name: string; namespace?: string; uid: string; ownerReferences?: readonly { kind: string }[] };
    }[];
  }>(cluster, 'get', `${clusterKinds},${namespacedKinds}`, '-A');
  return items
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'ClusterVersion') === true)
    .map(({ kind, metadata: { namespace = '', name, uid } }) => `${kind} ${namespace}/${name} ${uid}`)
    .sort();
}

interface End {
  readonly when: string;
  readonly afterMs: number;
  /** Of `kubectl delete`. Without a moment to end, the Lease is not given back. */
  readonly how: readonly string[];
}

const gently: End = { when: 'right after a change', afterMs: 0, how: [] };
const ends: readonly End[] = isLong
  ? [
      gently,
      ...[500, 1_500, 4_000, 9_000, 15_000].map((afterMs) => ({ ...gently, when: `${afterMs} ms later`, afterMs })),
      ...[0, 2_000, 6_000, 12_000].map((afterMs) => ({
        when: `${afterMs} ms later, without a moment to end`,
        afterMs,
        how: ['--grace-period=0', '--force'],
      })),
    ]
  : [gently];

function declareEnds(cluster: TrustCluster): void {
  const holder = (): Promise<string> => valueAt(cluster, lease, '.spec.holderIdentity');

  test.each(ends)('$when is followed by one that goes on, and nothing is lost', async ({ afterMs, how }) => {
    const [rights] = drifts.filter(({ what }) => what.includes('ClusterRole'));
    if (rights === undefined) throw new Error('no drift of rights');
    const right = await valueAt(cluster, rights.object, rights.path);
    const [owned, firstHolder] = [await ownedObjects(cluster), await holder()];
    expect(owned.length).toBeGreaterThan(40);
    await trustKubectl(cluster, ...rights.change);
    await new Promise((done) => setTimeout(done, afterMs));
    await trustKubectl(cluster, 'delete', ...operatorPods, '--wait=false', ...how);
    // A Lease that nobody gave back runs out after 15 s.
    const next = await eventually('that another process holds the Lease', 60, async () => {
      const now = await holder();
      return now !== '' && now !== firstHolder ? now : undefined;
    });
    await eventually('that the change is put right', secondsToPutRight, async () =>
      (await valueAt(cluster, rights.object, rights.path)) === right ? true : undefined,
    );
    expect(next).not.toBe(firstHolder);
    expect(await ownedObjects(cluster)).toEqual(owned);
    const { status } = await clusterVersion(cluster);
    expect(status.history.map(({ state }) => state)).toEqual(['Completed']);
    await untilOperatorsRest(cluster, 60);
  });
}
