// Names, ports and addresses that follow from the install-config. An asset of its own, so that what depends on names
// alone (certificates, kubeconfigs, pointers) is not made anew when, for example, the number of workers changes.
import { z } from 'zod';
import { dnsAddressIn } from '../contract/addresses.ts';
import { ownFolder } from '../contract/asset-folder.ts';
import { apiPort, configServerPort } from '../contract/ports.ts';
import { type AddressRange, readRange, sizeOf } from '../install-config/cidr.ts';
import { clusterDomain } from '../install-config/cluster-facts.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import { platformTraits } from '../platform/platform-traits.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';
import { installConfig } from './install-config.ts';

const path = `${ownFolder}/cluster-names.json`;

const schema = z.strictObject({
  clusterName: z.string(),
  /** `<name>.<baseDomain>`. */
  domain: z.string(),
  apiUrl: z.url(),
  apiInternalUrl: z.url(),
  configServerUrl: z.url(),
  /** First address of the service network: where pods find the API. */
  serviceAddresses: z.array(z.string()),
  /** Of the cluster's DNS Service. */
  dnsAddress: z.string(),
  /** Of the load balancer, where the platform has a fixed one. */
  apiVips: z.array(z.string()),
});

export type ClusterNames = z.output<typeof schema>;

export const clusterNames = asset({
  name: 'cluster-names',
  why: 'Everybody must call the cluster by the same names, and a change of anything else must not touch what bears them.',
  neededUntil: 'the cluster is destroyed',
  inputs: { installConfig },
  outputs: [path],
  generate: ({ installConfig: config }) => [{ path, content: `${JSON.stringify(namesOf(config), null, 2)}\n` }],
  read: (files) => readAssetJson(path, textOf(files), schema),
});

export function namesOf(config: InstallConfig): ClusterNames {
  const domain = clusterDomain(config);
  const { balancerOffset } = platformTraits(config.platform);
  const services = readRange(config.networking.serviceNetwork[0]);
  return {
    clusterName: config.metadata.name,
    domain,
    apiUrl: `https://api.${domain}:${apiPort}`,
    apiInternalUrl: `https://api-int.${domain}:${apiPort}`,
    configServerUrl: `https://api-int.${domain}:${configServerPort}`,
    serviceAddresses: [addressAt(services, 1)],
    dnsAddress: dnsAddressIn(config.networking.serviceNetwork[0]),
    apiVips: balancerOffset === undefined ? [] : [addressAt(machineRange(config), balancerOffset)],
  };
}

export function machineRange(config: InstallConfig): AddressRange {
  const [first] = config.networking.machineNetwork;
  if (first === undefined) throw new Error('an install-config without a machine network');
  return readRange(first.cidr);
}

/** The n-th address of a range; the zeroth is the network itself. */
export function addressAt(range: AddressRange, offset: number): string {
  if (offset >= sizeOf(range)) throw new Error(`the range has no address number ${offset}`);
  const value = range.first + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
