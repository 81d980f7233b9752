import { describe, expect, test } from 'vitest';
import { inPlaceNamespace, scheduleLabels } from '../contract/in-place.ts';
import { inPlaceObjects } from './manifests.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly subjects?: readonly { readonly name: string }[];
  readonly spec?: unknown;
}

const objects = inPlaceObjects('image@sha256:00') as unknown as readonly Manifest[];
const rulesOf = (name: string) =>
  objects.filter((one) => one.metadata.name === name).flatMap(({ rules = [] }) => rules);
const rightsOf = (name: string) =>
  rulesOf(name).flatMap(({ resources, verbs }) => resources.map((resource) => `${resource}: ${verbs.join(' ')}`));

describe('the objects of the in-place bootstrapper', () => {
  test('give the pod, which is root on its machine, no right in the cluster but to write Events', () => {
    expect(rightsOf('ipb:pod')).toEqual(['events: create']);
    expect(objects.filter(({ subjects = [] }) => subjects.some(({ name }) => name === 'ipb'))).toHaveLength(1);
  });

  test('give config servers no right to write anything but reports', () => {
    expect(
      rightsOf('firstlight:in-place:config-server').filter((right) => /create|patch|update|delete/.test(right)),
    ).toEqual(['inplaceattempts/status: patch', 'tokenreviews: create']);
  });

  test('name every right: no rule has a *', () => {
    expect(JSON.stringify(objects.filter(({ kind }) => kind.endsWith('Role')))).not.toContain('*');
  });

  test('start a pod on nodes with either label, whatever taints they have', () => {
    const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet')?.spec as {
      readonly updateStrategy: object;
      readonly template: { readonly spec: Readonly<Record<string, unknown>> };
    };
    expect(daemonSet.updateStrategy).toEqual({ type: 'OnDelete' });
    const { spec } = daemonSet.template;
    expect(spec).toMatchObject({
      hostPID: true,
      hostNetwork: true,
      tolerations: [{ operator: 'Exists' }],
      priorityClassName: 'system-node-critical',
      terminationGracePeriodSeconds: 30,
    });
    const affinity = JSON.stringify(spec['affinity']);
    expect(scheduleLabels.filter((label) => affinity.includes(label))).toEqual(scheduleLabels);
    expect(JSON.stringify(spec)).not.toContain('livenessProbe');
  });

  test('are in a namespace of their own, or in none', () => {
    const elsewhere = objects.filter(({ metadata }) => (metadata.namespace ?? inPlaceNamespace) !== inPlaceNamespace);
    expect(elsewhere).toEqual([]);
    expect(
      objects.filter(({ kind }) => kind === 'CustomResourceDefinition').map(({ metadata }) => metadata.name),
    ).toEqual(['inplaceattempts.ipb.dev', 'inplaceruns.ipb.dev']);
  });
});
