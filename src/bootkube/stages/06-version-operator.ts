// Stage 6: the ClusterVersion that names the release, and what the release brings, with the values of this cluster: the
// same files as in the release image, in three folders by who applies them first.
import { join } from 'node:path';
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { releaseImageVariable } from '../../contract/bootkube-environment.ts';
import { clusterMetadataFile } from '../../contract/cluster-metadata.ts';
import { enabledCapabilities, versionOperator } from '../../contract/cluster-version.ts';
import { inventoryFile } from '../../contract/inventory.ts';
import { inPlaceFactsObject } from '../../in-place/manifests.ts';
import { platformOf } from '../../install-config/cluster-facts.ts';
import { toYaml, toYamlDocuments } from '../../kubernetes/yaml.ts';
import { firstRunningLevel, type PayloadFile, payloadManifests } from '../../operators/payload-files.ts';
import { fillValues, type PayloadValues } from '../../operators/payload-values.ts';
import { releasePayload } from '../../release/release-payload.ts';
import { definitionsAreUsable, imagesAreInRelease, parsesAsObjects, readRendered } from '../checks.ts';
import { clusterVersion } from '../cluster-version.ts';
import { type BootkubeContext, releaseImage } from '../context.ts';
import { renderStage, type StageCheck, type StageFile } from '../render-stage.ts';
import { addonFolder, payloadFolder } from '../rendered-manifests.ts';

/** Of the config servers. */
const authorityFile = 'root-ca.crt';
const identity = { number: 6, name: 'version-operator' } as const;

/** The API would take `{{NAME}}` for a name. */
const everyValueIsFilledIn: StageCheck = {
  name: 'every value of the cluster that manifests of the release ask for is filled in',
  run: async (context, outputs) => {
    for (const path of Object.keys(outputs)) {
      const place = /\{\{[A-Z_]+\}\}/.exec(await readRendered(context, identity, path))?.[0];
      if (place !== undefined) return `${path}: ${place} is not filled in`;
    }
    return undefined;
  },
};

export const versionOperatorStage = renderStage({
  ...identity,
  why: 'Renders what the release brings into the cluster: the ClusterVersion, which names the release, the version operator, and every manifest that it keeps.',
  variable: 'CVO_IMAGE',
  inputs: [inventoryFile, clusterConfigPath, clusterMetadataFile, 'render/02-release-info', `tls/${authorityFile}`],
  outputs: ['0000_00_cluster-version.yaml', '0000_0N_*.yaml', `${addonFolder}/*`, `${payloadFolder}/*`],
  render: async (context) => [
    { path: '0000_00_cluster-version.yaml', content: toYaml(clusterVersion(context)) },
    ...payloadOfCluster(context),
    { path: `${addonFolder}/0000_80_machine-config_in-place-facts.yaml`, content: toYaml(await inPlaceFacts(context)) },
  ],
  verify: [
    parsesAsObjects(identity),
    definitionsAreUsable(identity),
    imagesAreInRelease(identity),
    everyValueIsFilledIn,
  ],
});

function payloadOfCluster(context: BootkubeContext): readonly StageFile[] {
  const values = payloadValuesOf(context);
  const enabled = enabledCapabilities(context.installConfig.capabilities);
  return payloadManifests(releasePayload(context.release)).map((file) => ({
    path: join(folderOf(file, enabled), file.name),
    content: toYamlDocuments(file.objects.map((object) => fillValues(object, values))),
  }));
}

function payloadValuesOf(context: BootkubeContext): PayloadValues {
  const { names, release, clusterId, installConfig } = context;
  const { hostname, port } = new URL(names.apiInternalUrl);
  return {
    RELEASE_IMAGE: releaseImage(context, releaseImageVariable),
    RELEASE_VERSION: release.version,
    API_HOST: hostname,
    API_PORT: port,
    CLUSTER_ID: clusterId,
    DNS_ADDRESS: names.dnsAddress,
    APPS_DOMAIN: `apps.${names.domain}`,
    PLATFORM: platformOf(installConfig),
  };
}

/** What runs before the operator in the cluster has begun: itself, names, and the in-place bootstrapper. */
const firstOperators: readonly string[] = [versionOperator.name, 'dns', 'machine-config'];

/** Stage 13 seeds what is in no folder, tectonic.service applies the add-ons, the operator in the cluster the rest. */
function folderOf({ operator, level, capability, objects }: PayloadFile, enabled: readonly string[]): string {
  const runs = objects.some(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
  if (level < firstRunningLevel && !runs) return '';
  const isWanted = capability === undefined || enabled.includes(capability);
  return isWanted && firstOperators.includes(operator) ? addonFolder : payloadFolder;
}

async function inPlaceFacts({ host, folders, clusterId, names }: BootkubeContext): Promise<object> {
  const serviceCa = await host.files.readText(join(folders.tls, authorityFile));
  return inPlaceFactsObject({ clusterId, serviceUrl: names.configServerUrl, serviceCa });
}
