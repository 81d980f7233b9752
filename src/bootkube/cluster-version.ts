// The ClusterVersion object: which release the cluster runs, and what of it. It keeps the original name and schema,
// because existing tools read it. Bootkube writes its spec once; its status is the version operator's in the cluster.
import { type ClusterVersionSpec, clusterVersionReference } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { BootkubeContext } from './context.ts';

export interface ClusterVersion extends KubernetesObject {
  readonly spec?: ClusterVersionSpec;
}

export function clusterVersion({
  clusterId,
  installConfig,
}: Pick<BootkubeContext, 'clusterId' | 'installConfig'>): object {
  const { apiVersion, kind, name } = clusterVersionReference;
  const { capabilities } = installConfig;
  return { apiVersion, kind, metadata: { name }, spec: { clusterID: clusterId, capabilities } };
}
