// The settings that all machines of a pool share, in a file of the pool's MachineConfig: the role, the URL of the API,
// and for masters the facts about the control plane. The file contains no secret and nothing specific to one machine.
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { nodeSettingsErrors } from './errors.ts';
import { nodeSettingsFile } from './machine-paths.ts';

const network = z.union([z.cidrv4(), z.cidrv6()]);
const address = z.union([z.ipv4(), z.ipv6()]);

/** The facts from which a control-plane machine makes its pods and certificates. */
export const controlPlaneFactsSchema = z.object({
  clusterName: z.string().min(1),
  /** The cluster token of etcd: it keeps two clusters apart that can reach each other. */
  clusterId: z.string().min(1),
  /** `<name>.<baseDomain>`: the domain that contains the names api and api-int. */
  domain: z.string().min(1),
  /** The first address of each service network; pods reach the API there. */
  serviceAddresses: z.array(address),
  /** The addresses of the load balancer, if the platform has fixed ones. */
  apiVips: z.array(address),
  serviceNetwork: network,
  podNetwork: network,
  /** The prefix length of each node's part of `podNetwork`. */
  podPrefix: z.int(),
  /** The planned number of masters; the same on every etcd member. */
  masters: z.int().min(1),
  /** The lifetime of the certificates that a master makes for itself; the default is one year. */
  leafMinutes: z.int().min(1).exactOptional(),
  /** The feature gates of Kubernetes, for every component. */
  featureGates: z.record(z.string(), z.boolean()).exactOptional(),
});
export type ControlPlaneFacts = z.output<typeof controlPlaneFactsSchema>;

const podRouteFactsSchema = controlPlaneFactsSchema.pick({ podNetwork: true, podPrefix: true, apiVips: true });
/** What routes to other nodes' pods are judged by. */
export type PodRouteFacts = z.output<typeof podRouteFactsSchema>;

const nodeSettingsSchema = z.object({
  role: z.enum(['bootstrap', 'master', 'worker']).exactOptional(),
  /** The URL of the cluster's API for machines. */
  apiServerUrl: z.url().exactOptional(),
  /** The node uses its first address in these networks. If the list is empty: the address of the default interface. */
  machineNetworks: z.array(network).readonly(),
  controlPlane: controlPlaneFactsSchema.exactOptional(),
  /** On workers; a master has the same facts in `controlPlane`. */
  podRoutes: podRouteFactsSchema.exactOptional(),
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
