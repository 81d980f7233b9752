// A capability that is turned off later: what was installed stays and is kept, and the ClusterVersion says so.
import { afterAll, expect, test } from 'vitest';
import { eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';
import { clusterOperator, clusterVersion, conditionText, patchVersion, valueAt } from './operator-lab.ts';

const condition = 'ImplicitlyEnabledCapabilities';
const view = ['clusterrole', 'firstlight:metrics-reader'] as const;

export function capabilitiesTopic(cluster: TrustCluster): void {
  const says = (start: string): Promise<string> =>
    eventually(`that ${condition} is ${start}`, 30, async () => {
      const text = conditionText(await clusterVersion(cluster), condition);
      return text.startsWith(start) ? text : undefined;
    });

  afterAll(async () => {
    await patchVersion(cluster, { capabilities: { disabledCapabilities: null } });
  });

  test('one that is installed cannot be turned off, and the condition names it', async () => {
    await patchVersion(cluster, { capabilities: { disabledCapabilities: ['Metrics'] } });
    expect(await says('True ')).toMatch(/^True \(CapabilitiesImplicitlyEnabled\): .*: Metrics$/);
    const { status } = await clusterVersion(cluster);
    expect(status.capabilities.enabledCapabilities).toContain('Metrics');
    expect(conditionText(await clusterOperator(cluster, 'metrics'), 'Available')).toMatch(/^True /);
  });

  test('what it brought is still kept', async () => {
    const rules = await valueAt(cluster, view, '.rules');
    expect(rules).not.toBe('');
    await trustKubectl(cluster, 'delete', ...view);
    await eventually('the role that was removed', 30, async () =>
      (await valueAt(cluster, view, '.rules')) === rules ? true : undefined,
    );
  });

  test('turned on again, nothing is enabled against the spec', async () => {
    await patchVersion(cluster, { capabilities: { disabledCapabilities: null } });
    expect(await says('False ')).toMatch(/^False \(AsExpected\)/);
  });

  test('a capability that no release has is refused by the API', async () => {
    const spec = { capabilities: { additionalEnabledCapabilities: ['Nonsense'] } };
    const patch = ['patch', 'clusterversion', 'version', '--type=merge', '-p', JSON.stringify({ spec })];
    const { code, stderr } = await startCli(['kubectl', '--dir', cluster.dir, ...patch]).outcome;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/Unsupported value: "Nonsense"/);
  });
}
