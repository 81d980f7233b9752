// The cluster that the topics of standing-cluster.test.ts share: `create cluster` made it with its defaults. A topic is a function that declares its tests; it leaves the cluster as it found it.
import { join } from 'node:path';
import { cli } from '../machine-lab.ts';

export interface TrustCluster {
  /** The asset folder. */
  readonly dir: string;
  /** A scratch folder of the tests, gone with the cluster. */
  readonly folder: string;
  /** The cluster's name on the platform, for `machine` commands and `inside`; known once the cluster stands. */
  readonly infraId: () => string;
}

/** kubectl as the administrator. */
export async function trustKubectl(cluster: TrustCluster, ...args: readonly string[]): Promise<string> {
  return cli('kubectl', '--dir', cluster.dir, ...args);
}

export async function trustKubectlJson<T>(cluster: TrustCluster, ...args: readonly string[]): Promise<T> {
  return JSON.parse(await trustKubectl(cluster, ...args, '-o', 'json')) as T;
}

/** The kubeconfig that reaches the API from the host. */
export const trustKubeconfig = (cluster: TrustCluster): string => join(cluster.dir, 'auth/kubeconfig');
