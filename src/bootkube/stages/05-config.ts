// Stage 5: the configuration of the cluster, as objects for the API, and the credentials of this machine as a
// control-plane machine: the signers, leaf certificates signed by them (those of etcd are made by stage 7), and
// kubeconfigs for the components.
import { join } from 'node:path';
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { clusterMetadataFile } from '../../contract/cluster-metadata.ts';
import { secretsEncryptionFile } from '../../contract/secrets-encryption.ts';
import { controlPlaneComponents, holdingOf } from '../../control-plane/component-holdings.ts';
import {
  ensureMachineCredentials,
  etcdLeaves,
  heldSigners,
  ownLeaves,
} from '../../control-plane/machine-credentials.ts';
import { modeOfKeyFile } from '../../control-plane/master-keys.ts';
import { definitionsAreUsable, parsesAsObjects } from '../checks.ts';
import { configurationFiles, configurationIsWhole } from '../configuration/configuration-objects.ts';
import type { BootkubeContext } from '../context.ts';
import { renderStage, type StageCheck } from '../render-stage.ts';
import {
  credentialFolder,
  credentialFolders,
  credentialOptions,
  credentialStages,
  leavesFit,
  readCredentials,
} from '../rendered-credentials.ts';
import { configurationFolder } from '../rendered-manifests.ts';

const identity = credentialStages.config;
const leaves = ownLeaves.filter((name) => !etcdLeaves.includes(name));

/** A container that starts without one of them fails in its own words, and late. */
const holdingsAreComplete: StageCheck = {
  name: 'every component has the authorities, keys and kubeconfig that it reads',
  run: async (_context, outputs) => {
    const needed = controlPlaneComponents.flatMap((component) => {
      const { bundles, masterKeys, hasKubeconfig } = holdingOf(component);
      const names = [...bundles.map((name) => `${name}.crt`), ...masterKeys, ...(hasKubeconfig ? ['kubeconfig'] : [])];
      return names.map((name) => `${component}/${name}`);
    });
    const missing = needed.find((path) => outputs[path] === undefined);
    return missing === undefined ? undefined : `${missing} is missing`;
  },
};

export const configStage = renderStage({
  ...identity,
  why: 'Makes the certificates of this machine, and renders the configuration of the cluster. As objects of the API it can be read by people and programs later.',
  variable: 'CONFIG_OPERATOR_IMAGE',
  keeps: credentialFolders,
  inputs: ['tls', clusterConfigPath, clusterMetadataFile],
  outputs: [`${configurationFolder}/*`, 'pki/*', ...controlPlaneComponents.map((component) => `${component}/*`)],
  render: async (context) => {
    await seedSigners(context, join(credentialFolder(context, identity), 'pki'));
    await ensureMachineCredentials(credentialOptions(context, identity, leaves));
    return [...configurationFiles(context), ...(await readCredentials(context, identity))];
  },
  verify: [
    parsesAsObjects(identity),
    definitionsAreUsable(identity),
    configurationIsWhole,
    leavesFit(identity, leaves),
    holdingsAreComplete,
  ],
});

async function seedSigners({ host, folders }: BootkubeContext, folder: string): Promise<void> {
  await host.files.makeFolder(folder, { mode: 0o700 });
  const pairs = heldSigners.flatMap((name) => [`${name}.crt`, `${name}.key`]);
  for (const name of [...pairs, 'service-account.key', 'service-account.pub', secretsEncryptionFile]) {
    const mode = modeOfKeyFile(name);
    await host.files.write(join(folder, name), await host.files.read(join(folders.tls, name)), { mode });
  }
}
