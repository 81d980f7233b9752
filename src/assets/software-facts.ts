// What the software of every machine must know about the cluster, from the install-config and the names.
import {
  featureGatesOf,
  issuersOf,
  masterCount,
  securitySettingsOf,
  trustBundleOf,
  workerCount,
} from '../install-config/cluster-facts.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import type { SoftwareFacts } from '../machine-software/machine-software.ts';
import type { ClusterNames } from './cluster-names.ts';
import { machineProxy, mirroredRegistries } from './proxy-and-mirrors.ts';

/** The image that holds the namespaces of a pod, by the name under which the release carries it. */
export const pauseImage = 'release.firstlight.internal/pause:v1.0.0';

export interface ClusterIdentity {
  readonly clusterId: string;
  /** The certificate of root-ca. */
  readonly rootCaPem: string;
}

export function softwareFacts(
  config: InstallConfig,
  names: ClusterNames,
  { clusterId, rootCaPem }: ClusterIdentity,
): SoftwareFacts {
  const { certificateMinutes } = config.controlPlane;
  const proxy = machineProxy(config);
  const additionalTrustBundle = trustBundleOf(config);
  const authentication = issuersOf(config);
  return {
    apiServerUrl: names.apiInternalUrl,
    clusterDns: [names.dnsAddress],
    clusterDomain: 'cluster.local',
    clusterNetworks: config.networking.clusterNetwork.map(({ cidr }) => cidr),
    machineNetworks: config.networking.machineNetwork.map(({ cidr }) => cidr),
    pauseImage,
    registries: mirroredRegistries(config),
    kubeletEnvironment: {},
    mastersSchedulable: workerCount(config) === 0,
    security: securitySettingsOf(config),
    ...(authentication === undefined ? {} : { authentication }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(additionalTrustBundle === undefined ? {} : { additionalTrustBundle }),
    ...(config.featureGates.length === 0 ? {} : { featureGates: featureGatesOf(config) }),
    configServerCaPem: rootCaPem,
    controlPlane: {
      clusterName: names.clusterName,
      clusterId,
      domain: names.domain,
      serviceAddresses: names.serviceAddresses,
      apiVips: names.apiVips,
      serviceNetwork: config.networking.serviceNetwork[0],
      podNetwork: config.networking.clusterNetwork[0].cidr,
      podPrefix: config.networking.clusterNetwork[0].hostPrefix,
      masters: masterCount(config),
      ...(certificateMinutes === undefined ? {} : { leafMinutes: certificateMinutes }),
    },
  };
}

/** The keys with which a user may log in as `core`. */
export function sshKeys(config: InstallConfig): readonly string[] {
  return config.sshKey?.split('\n').filter((line) => line.trim() !== '') ?? [];
}
