import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OperatorSight } from './operator.ts';
import { storageOperator } from './storage.ts';

const objects = storageOperator.manifests((name) => `image-of-${name}`).flatMap((file) => file.objects);
const configMap = objects.find(({ kind }) => kind === 'ConfigMap');
const data = configMap?.['data'] as Readonly<Record<string, string>>;

const deployment = (status: 'True' | 'False'): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'local-path-provisioner', namespace: 'kube-system' },
  spec: { replicas: 1 },
  status: { updatedReplicas: 1, availableReplicas: 1, conditions: [{ type: 'Available', status }] },
});
const storageClass = objects.filter(({ kind }) => kind === 'StorageClass');

function sight(...seen: readonly KubernetesObject[]): OperatorSight {
  return {
    version: '1.2.3',
    capabilities: ['Storage'],
    now: new Date('2026-01-01T00:00:00Z'),
    objects: (kind) => seen.filter((object) => object.kind === kind),
  };
}

test('the pod that makes a folder runs our program from the image of the provisioner, without a shell or a token', () => {
  const pod = parse(data['helperPod.yaml'] ?? '') as { readonly spec: Record<string, unknown> };
  expect(pod.spec).toMatchObject({
    automountServiceAccountToken: false,
    // The provisioner reads the log of a container with this name.
    containers: [{ name: 'helper-pod', image: 'image-of-local-path-provisioner' }],
  });
  expect(JSON.parse(data['config.json'] ?? '')).toMatchObject({
    setupCommand: '/usr/local/bin/volume-folder',
    teardownCommand: '/usr/local/bin/volume-folder',
  });
});

test('a claim that names no class gets a volume, on the machine of its pod', () => {
  expect(storageClass).toMatchObject([
    {
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  ]);
});

test.each([
  ['there is nothing', [], false],
  ['the provisioner is not available', [deployment('False'), ...storageClass], false],
  ['somebody removed the class', [deployment('True')], false],
  ['both are there', [deployment('True'), ...storageClass], true],
] as const)('storage when %s', (_, seen, isAvailable) => {
  const health = storageOperator.judge(sight(...seen));
  expect(health.available.isSo).toBe(isAvailable);
  expect(health.versions).toEqual({ operator: '1.2.3' });
});
