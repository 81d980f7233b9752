// Stage 5: the credentials of this machine as a control-plane machine: the signers, leaf certificates signed by them,
// and kubeconfigs for the components. Leaf certificates that are still valid for the machine are kept, so a second run
// changes no certificate in use.
import { join } from 'node:path';
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { secretsEncryptionFile } from '../../contract/secrets-encryption.ts';
import { controlPlaneComponents } from '../../control-plane/component-holdings.ts';
import { ensureMachineCredentials, heldSigners } from '../../control-plane/machine-credentials.ts';
import { modeOfKeyFile } from '../../control-plane/master-keys.ts';
import type { BootkubeContext } from '../context.ts';
import { renderStage, type StageFile, stageFolder, treeDigests } from '../render-stage.ts';

const identity = { number: 5, name: 'config' } as const;

export const configStage = renderStage({
  ...identity,
  why: 'Every component proves who it is by a certificate; they are made here, on the machine that uses them.',
  variable: 'CONFIG_OPERATOR_IMAGE',
  inputs: ['tls', clusterConfigPath],
  outputs: ['pki/*', ...controlPlaneComponents.map((component) => `${component}/*`)],
  render: async (context) => {
    const folder = join(context.folders.render, stageFolder(identity));
    await seedSigners(context, join(folder, 'pki'));
    await ensureMachineCredentials({
      host: context.host,
      facts: {
        cluster: context.names,
        machine: { name: context.machine.name, addresses: [context.machine.address] },
      },
      clusterName: context.names.clusterName,
      root: folder,
    });
    return readBack(context, folder);
  },
});

async function seedSigners({ host, folders }: BootkubeContext, folder: string): Promise<void> {
  await host.files.makeFolder(folder, { mode: 0o700 });
  const pairs = heldSigners.flatMap((name) => [`${name}.crt`, `${name}.key`]);
  for (const name of [...pairs, 'service-account.key', 'service-account.pub', secretsEncryptionFile]) {
    const mode = modeOfKeyFile(name);
    await host.files.write(join(folder, name), await host.files.read(join(folders.assets, 'tls', name)), { mode });
  }
}

async function readBack({ host }: BootkubeContext, folder: string): Promise<readonly StageFile[]> {
  const paths = Object.keys(await treeDigests(host.files, folder));
  return Promise.all(
    paths.map(async (path) => ({
      path,
      content: await host.files.readText(join(folder, path)),
      mode: modeOfKeyFile(path),
    })),
  );
}
