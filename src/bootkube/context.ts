// The context of every stage: the inputs of the machine, parsed once per run. Nothing in it is kept between runs.
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { type ClusterNames, namesOf } from '../assets/cluster-names.ts';
import { clusterConfigPath } from '../contract/asset-folder.ts';
import {
  type BootkubeEnvironment,
  readBootkubeEnvironment,
  releaseImageVariable,
} from '../contract/bootkube-environment.ts';
import { removalMark } from '../contract/bootstrap-paths.ts';
import { clusterMetadataFile, readClusterMetadata } from '../contract/cluster-metadata.ts';
import { type EtcdRestore, readEtcdRestore } from '../contract/etcd-restore.ts';
import { type Inventory, inventoryFile, inventorySchema } from '../contract/inventory.ts';
import {
  bootkubeEnvironmentFile,
  bootstrapFolder,
  releaseFile,
  releaseImageFile,
  runtimePaths,
} from '../contract/machine-paths.ts';
import { parseNodeEnvironment } from '../contract/node-environment.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { architectureOf } from '../install-config/architecture.ts';
import { parseInstallConfig } from '../install-config/parse.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import { type ReleaseManifest, releaseManifestSchema } from '../release/release-manifest.ts';
import type { Emit } from '../workflow/events.ts';
import { bootkubeErrors } from './errors.ts';

export interface BootkubeFolders {
  /** The files that Ignition wrote: /opt/firstlight on a machine. */
  readonly assets: string;
  /** The keys and certificates among them. */
  readonly tls: string;
  /** The output of the stages, one folder per stage. */
  readonly render: string;
  /** The manifest of the release that this machine was made from. */
  readonly releaseFile: string;
  /** Where the stage that is rendered now keeps its files, if not below `render`: in a container. */
  readonly output?: string;
}

export interface BootkubeContext {
  readonly host: Host;
  readonly emit: Emit;
  readonly folders: BootkubeFolders;
  readonly installConfig: InstallConfig;
  readonly names: ClusterNames;
  readonly inventory: Inventory;
  readonly release: ReleaseManifest;
  /** The image of the release that this machine was made from, by digest; undefined if the machine does not say. */
  readonly bootedRelease: string | undefined;
  /** Image references by variable, RELEASE_IMAGE included: what the machine's config names, else what it booted. */
  readonly images: BootkubeEnvironment;
  readonly machine: { readonly name: string; readonly address: string };
  readonly clusterId: string;
  /** Names what belongs to this cluster on its platform. */
  readonly infraId: string;
  /** The cluster is brought back from a snapshot of its etcd; undefined for a new cluster. */
  readonly restore: EtcdRestore | undefined;
}

export const machineFolders: BootkubeFolders = {
  assets: bootstrapFolder,
  tls: `${bootstrapFolder}/tls`,
  render: `${bootstrapFolder}/render`,
  releaseFile,
};

/** The files that `loadContext` reads, relative to the assets folder: what every stage reads beside its inputs. */
export const contextInputs: readonly string[] = [
  clusterConfigPath,
  inventoryFile,
  clusterMetadataFile,
  releaseFile,
  releaseImageFile,
  bootkubeEnvironmentFile,
  runtimePaths.environment,
];

const clusterConfig = z.looseObject({ data: z.looseObject({ 'install-config': z.string() }) });

export async function loadContext(
  host: Host,
  emit: Emit,
  folders: BootkubeFolders = machineFolders,
): Promise<BootkubeContext> {
  const text = await mustRead(host, join(folders.assets, clusterConfigPath));
  const config = clusterConfig.parse(parseYaml(text)).data['install-config'];
  const architecture = architectureOf(host.environment.architecture);
  const installConfig = parseInstallConfig(config, { file: 'cluster-config.yaml', architecture }).config;
  const release = releaseManifestSchema.parse(JSON.parse(await mustRead(host, folders.releaseFile)));
  const bootedRelease = await readBootedRelease(host);
  return {
    host,
    emit,
    folders,
    installConfig,
    names: namesOf(installConfig),
    inventory: inventorySchema.parse(JSON.parse(await mustRead(host, join(folders.assets, inventoryFile)))),
    release,
    bootedRelease,
    images: { ...imagesOf(release, bootedRelease), ...(await readBootkubeEnvironment(host)) },
    machine: await readMachine(host),
    restore: await readEtcdRestore(host.files),
    ...(await readIdentity(host, folders.assets)),
  };
}

async function mustRead(host: Host, path: string): Promise<string> {
  const content = await host.files.readIfPresent(path);
  if (content === undefined) {
    const isOver = (await host.files.facts(removalMark)) !== undefined;
    throw isOver ? bootkubeErrors.OVER({}) : bootkubeErrors.INPUT_MISSING({ path });
  }
  return Buffer.from(content).toString('utf8');
}

async function readIdentity(host: Host, dir: string): Promise<Pick<BootkubeContext, 'clusterId' | 'infraId'>> {
  const metadata = await readClusterMetadata(host.files, dir);
  if (metadata === undefined) throw bootkubeErrors.INPUT_MISSING({ path: join(dir, clusterMetadataFile) });
  return { clusterId: metadata.clusterID, infraId: metadata.infraID };
}

/** The name and address that firstlight-prepare.service found at this boot. */
async function readMachine(host: Host): Promise<BootkubeContext['machine']> {
  const { name, addresses } = parseNodeEnvironment(await mustRead(host, runtimePaths.environment));
  return { name, address: addresses[0] ?? '' };
}

async function readBootedRelease(host: Host): Promise<string | undefined> {
  const content = jsonIfValid((await host.files.readIfPresent(releaseImageFile)) ?? '');
  return z.looseObject({ reference: z.string() }).safeParse(content).data?.reference;
}

function imagesOf({ imageVariables }: ReleaseManifest, bootedRelease: string | undefined): BootkubeEnvironment {
  const images = Object.entries(imageVariables).map(([name, { reference }]) => [name, reference] as const);
  return {
    ...(bootedRelease === undefined ? {} : { [releaseImageVariable]: bootedRelease }),
    ...Object.fromEntries(images),
  };
}

/** The image reference of an image variable, by digest. */
export function releaseImage({ images }: Pick<BootkubeContext, 'images'>, variable: string): string {
  const found = images[variable];
  if (found === undefined) throw new Error(`the release has no ${variable}`);
  return found;
}
