// Stage 6: the objects of the release, in the order in which they are applied, and the ClusterVersion that names the
// release.
import { join } from 'node:path';
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { ownImageVariable } from '../../contract/bootkube-environment.ts';
import { inventoryFile } from '../../contract/inventory.ts';
import { inPlaceObjects } from '../../in-place/manifests.ts';
import { toYaml, toYamlDocuments } from '../../kubernetes/yaml.ts';
import { coreDnsObjects } from '../addons/coredns.ts';
import { imagesAreInRelease, parsesAsObjects } from '../checks.ts';
import { clusterVersion } from '../cluster-version.ts';
import { type BootkubeContext, releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

/** Of the config servers. */
const authorityFile = 'root-ca.crt';
const identity = { number: 6, name: 'version-operator' } as const;

export const versionOperator = renderStage({
  ...identity,
  why: 'Renders what the release brings into the cluster: the ClusterVersion, which names the release, and the add-ons.',
  variable: 'CVO_IMAGE',
  inputs: [inventoryFile, clusterConfigPath, 'render/02-release-info', `tls/${authorityFile}`],
  outputs: ['0000_00_cluster-version.yaml', 'addons/0000_70_dns.yaml', 'addons/0000_80_in-place.yaml'],
  render: async (context) => [
    { path: '0000_00_cluster-version.yaml', content: toYaml(clusterVersion(context)) },
    { path: 'addons/0000_70_dns.yaml', content: toYamlDocuments(coreDnsObjects(context)) },
    { path: 'addons/0000_80_in-place.yaml', content: toYamlDocuments(await inPlaceBootstrapper(context)) },
  ],
  verify: [parsesAsObjects(identity), imagesAreInRelease(identity)],
});

async function inPlaceBootstrapper(context: BootkubeContext): Promise<readonly object[]> {
  const { host, folders, clusterId, names } = context;
  return inPlaceObjects({
    image: releaseImage(context, ownImageVariable),
    facts: {
      clusterId,
      serviceUrl: names.configServerUrl,
      serviceCa: await host.files.readText(join(folders.tls, authorityFile)),
    },
  });
}
