// The values that manifests of a release leave open, from the configuration objects of the cluster, and which of those
// objects are still missing. A cluster that is just starting gets them a little later than its version operator.
import { z } from 'zod';
import { dnsAddressIn } from '../contract/addresses.ts';
import { configurationGroup } from '../contract/cluster-version.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { PayloadValues } from '../operators/payload-values.ts';
import type { ClusterVersionObject, Release } from './version-status.ts';

const url = z.url({ protocol: /^https$/ });
const schemas = {
  Infrastructure: z.object({
    spec: z.object({ platform: z.string() }),
    status: z.object({ apiServerInternalURI: url }),
  }),
  Network: z.object({ spec: z.object({ serviceNetwork: z.tuple([z.string()], z.string()) }) }),
  Ingress: z.object({ spec: z.object({ domain: z.string() }) }),
} as const;
type ConfigurationObjects = { readonly [Kind in keyof typeof schemas]: z.infer<(typeof schemas)[Kind]> };

export type SeenValues =
  | { readonly values: PayloadValues; readonly missing: readonly [] }
  | { readonly values: undefined; readonly missing: readonly string[] };

/** Throws what the API refuses, apart from objects and kinds that are not there. */
export async function observeValues(
  client: KubernetesClient,
  { version, release }: { readonly version: ClusterVersionObject; readonly release: Release },
  signal: AbortSignal,
): Promise<SeenValues> {
  const kinds = Object.keys(schemas) as readonly (keyof typeof schemas)[];
  const apiVersion = `${configurationGroup}/v1`;
  const found: Partial<Record<keyof typeof schemas, unknown>> = {};
  const missing: string[] = [];
  for (const kind of kinds) {
    const object = await findOrNone(client, { apiVersion, kind, name: 'cluster' }, signal);
    const read = schemas[kind].safeParse(object);
    if (read.success) found[kind] = read.data;
    else missing.push(object === undefined ? `${kind} cluster` : `${kind} cluster to have ${fieldOf(read.error)}`);
  }
  const clusterId = version.spec?.clusterID;
  if (clusterId === undefined) missing.push('ClusterVersion version to have spec.clusterID');
  if (missing.length > 0 || clusterId === undefined) return { values: undefined, missing };
  return { values: valuesFrom(found as ConfigurationObjects, { clusterId, release }), missing: [] };
}

function valuesFrom(
  { Infrastructure, Network, Ingress }: ConfigurationObjects,
  { clusterId, release }: { readonly clusterId: string; readonly release: Release },
): PayloadValues {
  const { hostname, port } = new URL(Infrastructure.status.apiServerInternalURI);
  return {
    RELEASE_IMAGE: release.image,
    RELEASE_VERSION: release.version,
    API_HOST: hostname,
    API_PORT: port || '443',
    CLUSTER_ID: clusterId,
    DNS_ADDRESS: dnsAddressIn(Network.spec.serviceNetwork[0]),
    APPS_DOMAIN: Ingress.spec.domain,
    PLATFORM: Infrastructure.spec.platform,
  };
}

async function findOrNone(
  client: KubernetesClient,
  reference: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.find(reference, { signal });
  } catch (error) {
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return undefined;
    throw error;
  }
}

function fieldOf({ issues }: z.ZodError): string {
  return issues[0]?.path.join('.') ?? 'its fields';
}
