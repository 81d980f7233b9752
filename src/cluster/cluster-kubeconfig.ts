// The kubeconfig for this host: the admin's, with the loopback port that leads to the load balancer of the cluster.
// Certificates of the API contain 127.0.0.1, so this kubeconfig trusts the same authorities as auth/kubeconfig.
import { join } from 'node:path';
import { adminKubeconfigPath, localKubeconfigPath } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { writeIfChanged } from '../host/write-if-changed.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import type { PlacedCluster } from '../platform/platform.ts';
import { clusterErrors } from './errors.ts';

/** Not written where this host reaches the API by its name: there the admin's kubeconfig works. */
export async function writeLocalKubeconfig(host: Host, dir: string, { apiEndpoint }: PlacedCluster): Promise<void> {
  if (apiEndpoint === undefined) return;
  await writeWithServer(host, dir, `server: https://${apiEndpoint.address}:${apiEndpoint.port}`);
}

/** After the admin's kubeconfig has changed. */
export async function renewLocalKubeconfig(host: Host, dir: string): Promise<void> {
  const present = await host.files.readIfPresent(join(dir, localKubeconfigPath));
  const server = serverLine.exec(Buffer.from(present ?? '').toString('utf8'))?.[0];
  if (server !== undefined) await writeWithServer(host, dir, server);
}

const serverLine = /server: .*/;

async function writeWithServer({ files }: Host, dir: string, server: string): Promise<void> {
  const admin = await files.readText(join(dir, adminKubeconfigPath));
  const path = join(dir, localKubeconfigPath);
  await writeIfChanged(files, { path, text: admin.replace(serverLine, server), mode: 0o600 });
}

/** The kubeconfig to use from here: the local one where the cluster is on this host, else the admin's. */
export async function kubeconfigFile(host: Host, dir: string): Promise<string> {
  for (const path of [localKubeconfigPath, adminKubeconfigPath]) {
    if ((await host.files.facts(join(dir, path))) !== undefined) return join(dir, path);
  }
  throw clusterErrors.NO_CLUSTER({ dir });
}

export async function connectCluster(host: Host, dir: string): Promise<KubernetesClient> {
  return connectKubernetes(host, { path: await kubeconfigFile(host, dir) });
}
