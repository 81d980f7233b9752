// The credentials that stages render for this machine: keys, certificates and kubeconfigs, each below the folder of the
// component that reads it. Leaf certificates that are still valid for the machine are kept, so a second run of a stage
// changes no certificate in use.
import { join } from 'node:path';
import { controlPlaneComponents } from '../control-plane/component-holdings.ts';
import { type CredentialOptions, dueLeaves } from '../control-plane/machine-credentials.ts';
import { modeOfKeyFile } from '../control-plane/master-keys.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { MachineLeafName } from '../pki/profiles.ts';
import type { BootkubeContext } from './context.ts';
import { type StageCheck, type StageFile, stageFolder, treeDigests } from './render-stage.ts';

/** Below the folder of a stage and, once installed, below /etc/kubernetes. */
export const credentialFolders: readonly string[] = ['pki', ...controlPlaneComponents];

/** The stages that render credentials. */
export const credentialStages = {
  config: { number: 5, name: 'config' },
  etcd: { number: 7, name: 'etcd' },
} as const;

type CredentialStage = (typeof credentialStages)[keyof typeof credentialStages];

/** Of the stage that is rendered. */
export function credentialFolder({ folders }: BootkubeContext, stage: CredentialStage): string {
  return folders.output ?? join(folders.render, stageFolder(stage));
}

/** Stage 5 makes the folder of the signers; later it is read where it was rendered. */
function signersFolder(context: BootkubeContext, stage: CredentialStage): string {
  const { config } = credentialStages;
  const folder =
    stage === config ? credentialFolder(context, stage) : join(context.folders.render, stageFolder(config));
  return join(folder, 'pki');
}

/** The leaves of a stage, signed by the signers that stage 5 has put among its own. */
export function credentialOptions(
  context: BootkubeContext,
  stage: CredentialStage,
  leaves: readonly MachineLeafName[],
): CredentialOptions {
  return {
    host: context.host,
    facts: { cluster: context.names, machine: { name: context.machine.name, addresses: [context.machine.address] } },
    clusterName: context.names.clusterName,
    root: credentialFolder(context, stage),
    signersFolder: signersFolder(context, stage),
    leaves,
    // Stage 13 gives each its own.
    givesAway: false,
  };
}

/** The files as they are on the disk, in the form in which a stage returns what it has rendered. */
export async function readCredentials(context: BootkubeContext, stage: CredentialStage): Promise<readonly StageFile[]> {
  const { files } = context.host;
  const root = credentialFolder(context, stage);
  const lists = credentialFolders.map(async (folder) => {
    const paths = Object.keys(await treeDigests(files, join(root, folder), folder));
    return Promise.all(
      paths.map(async (path) => ({
        path,
        content: await files.readText(join(root, path)),
        mode: modeOfKeyFile(path),
      })),
    );
  });
  return (await Promise.all(lists)).flat();
}

export function leavesFit(stage: CredentialStage, leaves: readonly MachineLeafName[]): StageCheck {
  return {
    name: 'every certificate fits its key, its signer and this machine',
    run: async (context) => {
      for (const leaf of leaves) {
        const reason = await whyUnfit(credentialOptions(context, stage, [leaf]));
        if (reason !== undefined) return `${leaf}: ${reason}`;
      }
      return undefined;
    },
  };
}

async function whyUnfit(options: CredentialOptions): Promise<string | undefined> {
  try {
    return (await dueLeaves(options))[0]?.because;
  } catch (error) {
    if (error instanceof FirstlightError) return error.message;
    throw error;
  }
}
