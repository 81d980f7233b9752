// What a node that runs the torcx bootstrapper asks the cluster for. The bootstrap machine adds what only the release
// knows: the tag of its Kubernetes, and mappings where the user gives none.
import { bootstrapperGroup } from '../../admission/bootstrap-token-secret.ts';
import { torcxMappings, torcxMappingsKeys } from '../../contract/cluster-objects.ts';
import { installConfig } from '../install-config.ts';
import { groupSubject } from './access.ts';
import { manifestAsset } from './manifest-asset.ts';

const { apiVersion, kind, name, namespace } = torcxMappings;
const rbac = 'rbac.authorization.k8s.io';

export const torcxManifest = manifestAsset({
  name: 'torcx-runtime-mappings',
  why: 'A node that joins later takes the docker that fits the cluster as it is then, not as it was installed.',
  inputs: { installConfig },
  objects: ({ installConfig: { nodeBootstrap, torcx } }) => {
    if (nodeBootstrap !== 'torcx') return [];
    const data = {
      ...(torcx?.runtimeMappings === undefined ? {} : { [torcxMappingsKeys.mappings]: torcx.runtimeMappings }),
      ...(torcx?.keyring === undefined ? {} : { [torcxMappingsKeys.keyring]: torcx.keyring }),
    };
    return [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion, kind, metadata: { name, namespace }, data },
      // For the token that a joining machine was given: this one object and no other.
      {
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { name, namespace },
        rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { name, namespace },
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: [groupSubject(bootstrapperGroup)],
      },
    ];
  },
});
