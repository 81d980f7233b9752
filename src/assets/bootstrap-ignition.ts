// bootstrap.ign: everything that the bootstrap machine needs to serve as the cluster before the masters do.
// The key of root-ca and the break-glass administrator must never leave the workstation, so they are not in it.
import { loopbackKubeconfigPath } from '../contract/asset-folder.ts';
import { clusterMetadataFile, clusterMetadataText } from '../contract/cluster-metadata.ts';
import { serverSettingsText } from '../contract/config-server-settings.ts';
import { inventoryFile, inventoryText } from '../contract/inventory.ts';
import { machineConfigGroup } from '../contract/machine-config-node.ts';
import { bootstrapFolder, configServerPaths, kubeletPullSecret } from '../contract/machine-paths.ts';
import { encryptionConfigurationText, secretsEncryptionFile } from '../contract/secrets-encryption.ts';
import type { FileNode, IgnitionConfig, Link } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import { serialize } from '../ignition/serialize.ts';
import {
  baseSoftware,
  containerRuntimeSoftware,
  ignitionConfig,
  kubeletSoftware,
} from '../machine-software/machine-software.ts';
import { asset, type InputValues } from './asset.ts';
import { readAssetIgnition } from './checked-files.ts';
import { type ClusterNames, clusterNames } from './cluster-names.ts';
import type { StoredCredential } from './credential-files.ts';
import { installConfig } from './install-config.ts';
import { inventory } from './inventory.ts';
import { joinKeys, masterJoinKeys, poolTokenDigests } from './join-keys.ts';
import { kubeletKubeconfigAsset, loopbackKubeconfig } from './kubeconfigs.ts';
import { bootstrapConfigServerLeaf } from './leaves.ts';
import { machineConfigCrdManifest, machineConfigFacts } from './manifests/machine-config.ts';
import { manifestFolder } from './manifests/manifest-folder.ts';
import { metadata } from './metadata.ts';
import { proxyCredentialsContent } from './proxy-and-mirrors.ts';
import { secretsEncryption } from './secrets-encryption.ts';
import { serviceAccountKey } from './service-account-key.ts';
import {
  apiserverServingSigner,
  configServerSigner,
  controlPlaneClientSigner,
  etcdSigner,
  frontProxySigner,
  kubeletSigner,
  rootCa,
} from './signers.ts';
import { softwareFacts, sshKeys } from './software-facts.ts';

const path = 'bootstrap.ign';

const inputs = {
  installConfig,
  clusterNames,
  metadata,
  inventory,
  joinKeys,
  masterJoinKeys,
  rootCa,
  configServerSigner,
  etcdSigner,
  apiserverServingSigner,
  controlPlaneClientSigner,
  kubeletSigner,
  frontProxySigner,
  serviceAccountKey,
  bootstrapConfigServerLeaf,
  loopbackKubeconfig,
  kubeletKubeconfig: kubeletKubeconfigAsset,
  manifestFolder,
  secretsEncryption,
};
type Inputs = InputValues<typeof inputs>;

const generatedManifests: readonly string[] = [...machineConfigCrdManifest.outputs, ...machineConfigFacts.outputs];

/**
 * Renders the pools as the bootstrap machine will, where users have added to them: a MachineConfig that cannot be used
 * is refused now, and not by a machine. What we generate alone can always be rendered.
 */
async function checkMachineConfigs(manifests: Inputs['manifestFolder']): Promise<void> {
  const isTheirs = manifests.some(
    ({ path: file, objects }) =>
      !generatedManifests.includes(file) && objects.some((object) => object.startsWith(`${machineConfigGroup}/`)),
  );
  if (!isTheirs) return;
  const [{ readDocuments }, { objectsOf }, { renderPool }] = await Promise.all([
    import('../source-text/documents.ts'),
    import('../machine-config/load-objects.ts'),
    import('../machine-config/render.ts'),
  ]);
  const read = manifests.map(({ path: file, content }) => readDocuments(file, Buffer.from(content).toString('utf8')));
  const documents = read.flatMap((one) => one.documents);
  const generatedBy = 'firstlight';
  const objects = objectsOf({ documents, mistakes: read.flatMap(({ mistakes }) => mistakes) }, generatedBy);
  const { machineConfigs, osImageURL, machines } = objects;
  for (const pool of objects.pools) renderPool(pool, machineConfigs, { osImageURL, machines, generatedBy });
}

export const bootstrapIgnition = asset({
  name: 'bootstrap-ignition',
  why: 'Somebody has to be the cluster before there is one: this makes a bare machine that somebody.',
  neededUntil: 'the bootstrap is complete; it holds signers, so remove it then',
  inputs,
  outputs: [path],
  generate: async (values) => {
    await checkMachineConfigs(values.manifestFolder);
    const facts = softwareFacts(values.installConfig, values.clusterNames, {
      clusterId: values.metadata.clusterID,
      rootCaPem: values.rootCa.certificatePem,
    });
    const parts = [baseSoftware, kubeletSoftware].map((part) => part('bootstrap', facts));
    const software = ignitionConfig([...parts, containerRuntimeSoftware(facts)]);
    const keys = sshKeys(values.installConfig);
    const bootstrap: IgnitionConfig = {
      ...software,
      ignition: { version: '3.2.0' },
      // Members of the group read the journal, as the documents do on this machine, without sudo.
      passwd: {
        users: [
          { name: 'core', groups: ['systemd-journal'], ...(keys.length === 0 ? {} : { sshAuthorizedKeys: keys }) },
        ],
      },
      storage: {
        ...software.storage,
        files: [...(software.storage?.files ?? []), ...assetFiles(values)],
        ...(values.installConfig.pullSecret === undefined ? {} : { links: [pullSecretLink] }),
      },
    };
    return [{ path, content: serialize(bootstrap), mode: 0o600 }];
  },
  read: (files) => readAssetIgnition(path, files),
});

/** A link and not a copy: when the assets are removed from the machine, its kubelet continues without the secret. */
const pullSecretLink: Link = { path: kubeletPullSecret, target: configServerPaths.pullSecret, overwrite: true };

/** The files that only a bootstrap machine has. */
function assetFiles(values: Inputs): readonly FileNode[] {
  const at = (name: string, content: string | Uint8Array, mode = 0o600): FileNode =>
    file(`${bootstrapFolder}/${name}`, content, mode);
  const signers: Readonly<Record<string, StoredCredential>> = {
    'config-server-signer': values.configServerSigner,
    'etcd-signer': values.etcdSigner,
    'apiserver-serving-signer': values.apiserverServingSigner,
    'control-plane-client-signer': values.controlPlaneClientSigner,
    'kubelet-signer': values.kubeletSigner,
    'front-proxy-signer': values.frontProxySigner,
    'machine-config-server': values.bootstrapConfigServerLeaf,
  };
  const pairs = Object.entries(signers).flatMap(([name, { certificatePem, key }]) => [
    at(`tls/${name}.crt`, certificatePem, 0o644),
    at(`tls/${name}.key`, key.privatePem.reveal()),
  ]);
  const credentials = proxyCredentialsContent(values.installConfig);
  const { pullSecret } = values.installConfig;
  return [
    at('tls/root-ca.crt', values.rootCa.certificatePem, 0o644),
    ...pairs,
    at('tls/service-account.key', values.serviceAccountKey.key.privatePem.reveal()),
    at('tls/service-account.pub', values.serviceAccountKey.publicPem, 0o644),
    at(`tls/${secretsEncryptionFile}`, encryptionConfigurationText(values.secretsEncryption)),
    at(loopbackKubeconfigPath, values.loopbackKubeconfig),
    file(configServerPaths.kubeconfig, values.kubeletKubeconfig, 0o600),
    file(configServerPaths.poolTokens, `${JSON.stringify(poolTokenDigests(values), null, 2)}\n`, 0o600),
    file(configServerPaths.settings, configServerSettings(values.clusterNames), 0o644),
    file(configServerPaths.inventory, inventoryText(values.inventory), 0o644),
    at(inventoryFile, inventoryText(values.inventory), 0o644),
    at(clusterMetadataFile, clusterMetadataText(values.metadata), 0o644),
    // For the units of the bootstrap machine, and to be served to the machines that join.
    ...(credentials === undefined ? [] : [file(configServerPaths.proxyCredentials, credentials, 0o600)]),
    ...(pullSecret === undefined ? [] : [file(configServerPaths.pullSecret, pullSecret, 0o600)]),
    ...values.manifestFolder.map(({ path: name, content }) => at(name, content, 0o644)),
  ];
}

/**
 * A load balancer of the platform has a known address, and only its PROXY headers are believed. It sends a refused
 * machine to another config server at once, so the server need not wait before it stops.
 */
function configServerSettings({ apiVips }: ClusterNames): string {
  return serverSettingsText({
    access: 'token',
    balancers: [...apiVips],
    ...(apiVips.length > 0 ? { leaveMs: 0 } : {}),
  });
}

function file(target: string, content: string | Uint8Array, mode: number): FileNode {
  return { path: target, mode, overwrite: true, contents: { source: dataUrl(content) } };
}
