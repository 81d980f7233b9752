import { expect, test } from 'vitest';
import { hookManifests } from './hook-manifests.ts';

test('the hook may patch nodes and nothing else', () => {
  const manifests = hookManifests({ image: 'example.test/firstlight:1', annotation: 'x/ok' });
  const role = manifests.find(({ kind }) => kind === 'ClusterRole');
  expect(role?.['rules']).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }]);
  expect(manifests.map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ServiceAccount',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'DaemonSet',
  ]);
});
