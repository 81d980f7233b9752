// Brings the images of an archive into the registry of a cluster, with the password and the signer that the cluster
// itself says.
import { registryPassword, registryTrust, registryTrustKeys } from '../contract/cluster-objects.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { readArchive } from '../registry/archive.ts';
import { registryErrors } from '../registry/errors.ts';
import { type RepositoryTag, repositoryTag } from '../registry/image-name.ts';
import { type PushedImage, pushImage, type RegistryAccess } from '../registry/push-image.ts';
import type { Emit } from '../workflow/events.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { clusterErrors } from './errors.ts';
import { mustFindCluster } from './find-cluster.ts';

export interface LoadImagesOptions {
  readonly host: Host;
  readonly dir: string;
  readonly archive: string;
  /** Another name than the archive has. */
  readonly as?: string | undefined;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface LoadedImage extends PushedImage {
  /** As pods name it. */
  readonly image: string;
}

export async function loadImages(options: LoadImagesOptions): Promise<readonly LoadedImage[]> {
  const { host, dir, archive, as, emit, signal } = options;
  const { placed } = await mustFindCluster(host, dir);
  const endpoint = placed?.registryEndpoint;
  if (endpoint === undefined) throw clusterErrors.NO_REGISTRY({ reason: 'this host has no way to its registry' });
  await using client = await connectCluster(host, dir);
  const { hostName, ...credential } = await registryCredential(client, signal);
  using http = host.network.keepConnections();
  const url = `https://${endpoint.address}:${endpoint.port}`;
  const access: RegistryAccess = { http, files: host.files, url, ...credential, signal };
  const scratch = await host.files.makeTemporaryFolder('firstlight-images-');
  try {
    const images = await readArchive(host.files, archive, scratch);
    if (as !== undefined && images.length > 1)
      throw registryErrors.NAME({ name: as, reason: `the archive has ${images.length} images` });
    const loaded: LoadedImage[] = [];
    for (const image of images) {
      for (const name of namesOf(image.names, as)) {
        emit({ kind: 'notice', level: 'info', text: `pushing ${name.repository}:${name.tag}` });
        const pushed = await pushImage(access, image, name);
        loaded.push({ ...pushed, image: `${hostName}/${pushed.repository}:${pushed.tag}` });
      }
    }
    return loaded;
  } finally {
    await host.files.remove(scratch);
  }
}

function namesOf(names: readonly string[], as: string | undefined): readonly RepositoryTag[] {
  if (as !== undefined) return [repositoryTag(as)];
  if (names.length === 0) throw registryErrors.NAME({ name: '', reason: 'the archive does not say how it is called' });
  return names.map(repositoryTag);
}

interface RegistryCredential extends Pick<RegistryAccess, 'authorityPem' | 'username' | 'password'> {
  /** In the names of images. */
  readonly hostName: string;
}

async function registryCredential(client: KubernetesClient, signal: AbortSignal): Promise<RegistryCredential> {
  const [secret, trust] = await Promise.all([
    client.find(registryPassword, { signal }),
    client.find(registryTrust, { signal }),
  ]);
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const { [registryTrustKeys.host]: hostName, [registryTrustKeys.authority]: authorityPem } = (trust?.['data'] ??
    {}) as Readonly<Record<string, string>>;
  if (hostName === undefined || authorityPem === undefined || data['password'] === undefined)
    throw clusterErrors.NO_REGISTRY({ reason: 'the capability Registry is off, or its operator has not come so far' });
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return { hostName, authorityPem, username: text('username'), password: text('password') };
}
