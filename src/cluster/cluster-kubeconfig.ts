// The kubeconfig with which a person reaches the cluster from where the folder is.
import { join } from 'node:path';
import { adminKubeconfigPath } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { clusterErrors } from './errors.ts';

/** Throws CLUSTER_NO_CLUSTER where the folder has none. */
export async function kubeconfigFile(host: Host, dir: string): Promise<string> {
  const path = join(dir, adminKubeconfigPath);
  if ((await host.files.facts(path)) === undefined) throw clusterErrors.NO_CLUSTER({ dir });
  return path;
}

export async function connectCluster(host: Host, dir: string): Promise<KubernetesClient> {
  return connectKubernetes(host, { path: await kubeconfigFile(host, dir) });
}
