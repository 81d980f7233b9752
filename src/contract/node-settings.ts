// Settings of every machine of a pool, in a file of the pool's MachineConfig: the role, where the API is, and on a
// master what its control plane is made from. Nothing here is secret or differs between machines of a pool.
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { nodeSettingsErrors } from './errors.ts';
import { nodeSettingsFile } from './machine-paths.ts';

const network = z.union([z.cidrv4(), z.cidrv6()]);
const address = z.union([z.ipv4(), z.ipv6()]);

/** What the pods and certificates of a control-plane machine are made from. */
export const controlPlaneFactsSchema = z.object({
  clusterName: z.string().min(1),
  /** Keeps two clusters apart that happen to meet; etcd's cluster token. */
  clusterId: z.string().min(1),
  /** `<name>.<baseDomain>`: the domain below which api and api-int are. */
  domain: z.string().min(1),
  /** First address of each service network: where pods find the API. */
  serviceAddresses: z.array(address),
  /** Of the load balancer, where the platform has fixed ones. */
  apiVips: z.array(address),
  serviceNetwork: network,
  podNetwork: network,
  /** How long the prefix of each node's part of `podNetwork` is. */
  podPrefix: z.int(),
  /** How many masters the cluster is meant to have; the same on every etcd member. */
  masters: z.int().min(1),
  /** How long the certificates live that a master makes for itself; a year unless told. */
  leafMinutes: z.int().min(1).exactOptional(),
  /** Of Kubernetes, for every component. */
  featureGates: z.record(z.string(), z.boolean()).exactOptional(),
});
export type ControlPlaneFacts = z.output<typeof controlPlaneFactsSchema>;

const nodeSettingsSchema = z.object({
  role: z.enum(['bootstrap', 'master', 'worker']).exactOptional(),
  /** Where the cluster's API answers machines. */
  apiServerUrl: z.url().exactOptional(),
  /** The node's address is the first one inside these; without any, that of the default route's interface. */
  machineNetworks: z.array(network).readonly(),
  controlPlane: controlPlaneFactsSchema.exactOptional(),
});
export type NodeSettings = z.output<typeof nodeSettingsSchema>;

export function nodeSettingsText(settings: NodeSettings): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

export async function readNodeSettings(host: Pick<Host, 'files'>, path = nodeSettingsFile): Promise<NodeSettings> {
  const content = await host.files.readIfPresent(path);
  if (content === undefined) return { machineNetworks: [] };
  try {
    return nodeSettingsSchema.parse(JSON.parse(Buffer.from(content).toString()));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw nodeSettingsErrors.SETTINGS({ path, reason }, { cause: error });
  }
}
