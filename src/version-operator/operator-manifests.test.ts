import { describe, expect, test } from 'vitest';
import { capabilityNames, versionOperator } from '../contract/cluster-version.ts';
import { versionOperatorFiles } from './operator-manifests.ts';

const files = versionOperatorFiles((image) => `r/${image}@sha256:1`);
const objects = files.flatMap((file) => file.objects);
const find = (kind: string) => objects.filter((object) => object.kind === kind);

describe('the objects of the version operator', () => {
  test('are in the order in which they can be made, the Deployment alone in the last file', () => {
    expect(files.map(({ name }) => name)).toEqual(files.map(({ name }) => name).toSorted());
    expect(files.map((file) => file.objects.map(({ kind }) => kind).join(' '))).toEqual([
      'Namespace',
      'CustomResourceDefinition CustomResourceDefinition',
      Array.from({ length: 8 }, () => 'CustomResourceDefinition').join(' '),
      'ServiceAccount ClusterRoleBinding',
      'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
      'Deployment',
    ]);
  });

  test('have kubectl show operators as people know it', () => {
    const columns = find('CustomResourceDefinition')
      .slice(0, 2)
      .map((crd) => {
        const { versions } = crd['spec'] as {
          versions: readonly { additionalPrinterColumns: readonly { name: string }[] }[];
        };
        return versions[0]?.additionalPrinterColumns.map(({ name }) => name);
      });
    expect(columns).toEqual([
      ['Version', 'Available', 'Progressing', 'Since', 'Status', 'Image'],
      ['Version', 'Available', 'Progressing', 'Degraded', 'Since', 'Message'],
    ]);
  });

  test('let the API refuse a capability that no release has', () => {
    expect(JSON.stringify(find('CustomResourceDefinition')[0])).toContain(JSON.stringify(capabilityNames));
  });

  test('run one pod on a master before there is any network, with the release as a volume', () => {
    const podSpec = {
      hostNetwork: true,
      dnsPolicy: 'Default',
      serviceAccountName: versionOperator.name,
      nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
      volumes: [{ name: 'release', image: { reference: '{{RELEASE_IMAGE}}', pullPolicy: 'IfNotPresent' } }],
      containers: [{ image: 'r/firstlight@sha256:1', securityContext: { capabilities: { drop: ['ALL'] } } }],
    };
    const spec = { replicas: 1, strategy: { type: 'Recreate' }, template: { spec: podSpec } };
    expect(find('Deployment')).toMatchObject([{ spec }]);
  });
});
