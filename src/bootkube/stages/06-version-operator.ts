// Stage 6: the objects of the release, in the order in which they are applied, and the ClusterVersion that names the
// release.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { inventoryFile } from '../../contract/inventory.ts';
import { toYaml, toYamlDocuments } from '../../kubernetes/yaml.ts';
import { coreDnsObjects } from '../addons/coredns.ts';
import { parsesAsObjects } from '../checks.ts';
import { clusterVersion } from '../cluster-version.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 6, name: 'version-operator' } as const;

export const versionOperator = renderStage({
  ...identity,
  why: 'A cluster must know which release it runs, and what belongs to that release, before anybody can upgrade it.',
  variable: 'CVO_IMAGE',
  originalCommand: 'podman run ${CVO_IMAGE} render --release-image=${RELEASE_IMAGE} --output-dir=/assets/cvo-bootstrap',
  inputs: [inventoryFile, clusterConfigPath, 'render/02-release-info'],
  outputs: ['0000_00_cluster-version.yaml', 'addons/0000_70_dns.yaml'],
  render: async (context) => [
    { path: '0000_00_cluster-version.yaml', content: toYaml(clusterVersion(context)) },
    { path: 'addons/0000_70_dns.yaml', content: toYamlDocuments(coreDnsObjects(context)) },
  ],
  verify: [parsesAsObjects(identity)],
});
