// The bootstrap machine of a cluster, by its name.
import { clusterErrors } from './errors.ts';
import type { ClusterHandle, FoundCluster } from './find-cluster.ts';

/** Undefined where there is none: not made yet, or removed after the handoff. */
export async function findBootstrapMachine({ platform, name }: ClusterHandle): Promise<string | undefined> {
  const machines = await platform.listMachines(name);
  return machines.find(({ role }) => role === 'bootstrap')?.name;
}

export async function bootstrapMachine(cluster: FoundCluster): Promise<string> {
  const found = await findBootstrapMachine(cluster);
  if (found === undefined) throw clusterErrors.NO_BOOTSTRAP({ cluster: cluster.clusterName });
  return found;
}
