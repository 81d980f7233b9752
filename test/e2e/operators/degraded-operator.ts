// An operator whose pods cannot run: its ClusterOperator names the pod and the reason, and so do `status` and `diagnose`;
// undone, it is well again. More than a minute: an image that is missing for less may be on its way.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import { clusterOperator, conditionText, patchVersion, untilOperatorsRest, valueAt } from './operator-lab.ts';

const deployment = ['deployment', 'coredns', '-n', 'kube-system'] as const;
const override = { group: 'apps', kind: 'Deployment', namespace: 'kube-system', name: 'coredns', unmanaged: true };
const missingImage = 'registry.nowhere.test/coredns:none';

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
  }[];
}

/** `pod NAME on NODE` of those that cannot run. */
async function brokenPods(cluster: TrustCluster): Promise<readonly string[]> {
  const { items } = await trustKubectlJson<PodList>(
    cluster,
    'get',
    'pods',
    '-n',
    'kube-system',
    '-l',
    'k8s-app=kube-dns',
  );
  return items
    .filter(({ spec }) => spec.containers.some(({ image }) => image === missingImage))
    .map(({ metadata, spec }) => `pod ${metadata.name} on ${spec.nodeName}`);
}

export function degradedOperatorTopic(cluster: TrustCluster): void {
  let said = '';
  let rightImage = '';

  beforeAll(async () => {
    rightImage = await valueAt(cluster, deployment, '.spec.template.spec.containers[0].image');
    await patchVersion(cluster, { overrides: [override] });
    await trustKubectl(cluster, 'set', 'image', ...deployment, `coredns=${missingImage}`);
    said = await eventually('that dns is Degraded', 120, async () => {
      const text = conditionText(await clusterOperator(cluster, 'dns'), 'Degraded');
      return text.startsWith('True ') ? text : undefined;
    });
  });

  afterAll(async () => {
    await patchVersion(cluster, { overrides: null });
  });

  test('names the pod, its node and why the image is not there', async () => {
    expect(said).toMatch(/^True \((ErrImagePull|ImagePullBackOff)\): /);
    expect(said).toContain('Deployment kube-system/coredns');
    expect(said).toContain(missingImage);
    const broken = await brokenPods(cluster);
    expect(broken.filter((pod) => said.includes(pod))).not.toEqual([]);
    expect(await trustKubectl(cluster, 'get', 'clusteroperator', 'dns', '--no-headers')).toMatch(
      /^dns +\S+ +\S+ +\S+ +True /,
    );
  });

  test('the names of the cluster still work: a pod of before stays until a new one is ready', async () => {
    expect(conditionText(await clusterOperator(cluster, 'dns'), 'Available')).toMatch(/^True /);
  });

  test('status and diagnose name the operator and the cause', async () => {
    const status = await cli('status', '--dir', cluster.dir);
    expect(status).toMatch(/unwell dns is degraded: .*registry\.nowhere\.test/);
    const { code, stdout } = await startCli(['diagnose', '--dir', cluster.dir, '-o', 'json']).outcome;
    const { reasons } = JSON.parse(stdout) as { reasons: readonly { check: string; sentence: string }[] };
    expect(code).toBe(4);
    const found = reasons.filter(({ check }) => check === 'operator-unwell').map(({ sentence }) => sentence);
    expect(found).toContainEqual(expect.stringMatching(/^operator dns is degraded: .*registry\.nowhere\.test/));
  });

  test('is well again when the override goes', async () => {
    await patchVersion(cluster, { overrides: null });
    await eventually('the image of the release', 30, async () =>
      (await valueAt(cluster, deployment, '.spec.template.spec.containers[0].image')) === rightImage ? true : undefined,
    );
    await untilOperatorsRest(cluster, 90);
    expect(await brokenPods(cluster)).toEqual([]);
    expect(await cli('status', '--dir', cluster.dir)).not.toContain('unwell');
  });
}
