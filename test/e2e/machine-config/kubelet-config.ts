// A KubeletConfig: the kubelets of its pool have it without a reboot, a mistake in it moves nothing, and without it
// everything is as before.
import { afterAll, expect, test } from 'vitest';
import type { KubernetesClient } from '../../../src/kubernetes/client.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { apiVersion } from '../../../src/machine-config/machine-config.ts';
import {
  applyObjects,
  type ConfigCluster,
  eventuallySeen,
  nodeSights,
  poolSight,
  rollOut,
  untilRolledOut,
  withApi,
  workers,
} from './config-lab.ts';

const reference = { apiVersion, kind: 'KubeletConfig', name: 'proof-pods' } as const;
const generated = '99-worker-generated-kubelet';

function kubeletConfig(fields: object): KubernetesObject {
  const matchLabels = { 'pools.operator.machineconfiguration.openshift.io/worker': '' };
  return {
    apiVersion,
    kind: reference.kind,
    metadata: { name: reference.name },
    spec: { machineConfigPoolSelector: { matchLabels }, kubeletConfig: fields },
  };
}

/** How many pods the kubelets of the workers say they take. */
async function podLimits(api: KubernetesClient): Promise<readonly string[]> {
  const { items } = await api.list({ apiVersion: 'v1', kind: 'Node' });
  return items
    .filter(({ metadata }) => workers.includes(metadata.name))
    .map(({ status }) => (status as { readonly allocatable: { readonly pods: string } }).allocatable.pods);
}

export function kubeletConfigTopic(cluster: ConfigCluster): void {
  const limitsBecome = (limit: string): Promise<true> =>
    eventuallySeen(cluster, { what: `${limit} pods per worker`, seconds: 20 }, async (api) =>
      (await podLimits(api)).every((seen) => seen === limit) ? true : undefined,
    );

  afterAll(async () => {
    await withApi(cluster, (api) => api.delete(reference));
  });

  test('its pool has it without a reboot, and the masters do not', async () => {
    const before = await withApi(cluster, (api) => nodeSights(api));
    const master = await withApi(cluster, (api) => poolSight(api, 'master'));
    await rollOut(cluster, { seconds: 30 }, () => applyObjects(cluster, kubeletConfig({ maxPods: 77 })));
    await limitsBecome('77');
    const after = await withApi(cluster, (api) => nodeSights(api));
    expect(after.map(({ bootId }) => bootId)).toEqual(before.map(({ bootId }) => bootId));
    expect((await withApi(cluster, (api) => poolSight(api, 'master'))).target).toBe(master.target);
  });

  test('a mistake in it is said in its status, and machines keep what they have', async () => {
    const before = await withApi(cluster, (api) => poolSight(api, 'worker'));
    await applyObjects(cluster, kubeletConfig({ maxPod: 5 }));
    const message = await eventuallySeen(cluster, { what: 'the condition Failure', seconds: 10 }, async (api) => {
      const { status } = await api.get(reference);
      const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Record<string, string>[] };
      return conditions.find(({ type, status: is }) => type === 'Failure' && is === 'True')?.['message'];
    });
    expect(message).toBe('kubeletConfig.maxPod is unknown; did you mean maxPods?');
    expect(await withApi(cluster, (api) => poolSight(api, 'worker'))).toEqual(before);
  });

  test('without it the kubelets are as before, and nothing made from it is left', async () => {
    const { target } = await withApi(cluster, (api) => poolSight(api, 'worker'));
    await withApi(cluster, (api) => api.delete(reference));
    const { sources } = await untilRolledOut(cluster, { seconds: 30, insteadOf: target });
    expect(sources).not.toContain(generated);
    await limitsBecome('110');
    const { items } = await withApi(cluster, (api) => api.list({ apiVersion, kind: 'MachineConfig' }));
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(generated);
  });
}
