// The install-config of the cluster without its secrets, under the name that tools for such clusters look for.
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { withoutSecrets } from '../../install-config/secrets.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { installConfig } from '../install-config.ts';
import { manifestAsset } from './manifest-asset.ts';

export const clusterConfigManifest = manifestAsset({
  name: 'cluster-config',
  why: 'Controllers in the cluster read how it was meant to be, also when the workstation is long gone.',
  inputs: { installConfig },
  objects: ({ installConfig: config }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cluster-config-v1', namespace: systemNamespace },
      data: { 'install-config': toYaml(withoutSecrets(config)) },
    },
  ],
});
