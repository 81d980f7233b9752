// What follows from the install-config alone and several assets need: names, ports, addresses. Pure arithmetic.
import { type Range, readRange, sizeOf } from '../install-config/cidr.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import type { ClusterFacts } from '../pki/profiles.ts';

export const apiPort = 6443;
export const configServerPort = 22_623;

export interface ClusterNames extends ClusterFacts {
  readonly apiUrl: string;
  readonly apiInternalUrl: string;
  readonly configServerUrl: string;
  /** The address of the cluster's DNS Service. */
  readonly dnsAddress: string;
}

export function clusterNames(config: InstallConfig): ClusterNames {
  const domain = `${config.metadata.name}.${config.baseDomain}`;
  const services = readRange(config.networking.serviceNetwork[0]);
  return {
    domain,
    apiUrl: `https://api.${domain}:${apiPort}`,
    apiInternalUrl: `https://api-int.${domain}:${apiPort}`,
    configServerUrl: `https://api-int.${domain}:${configServerPort}`,
    serviceAddresses: [addressAt(services, 1)],
    dnsAddress: addressAt(services, 10),
    apiVips: config.platform.local === undefined ? [] : [gatewayAddress(config)],
  };
}

/** On the local platform the load balancer and the name server live at the gateway of the machine network. */
export function gatewayAddress(config: InstallConfig): string {
  return addressAt(machineRange(config), 1);
}

export function machineRange(config: InstallConfig): Range {
  const [first] = config.networking.machineNetwork;
  if (first === undefined) throw new Error('an install-config without a machine network');
  return readRange(first.cidr);
}

/** The n-th address of a range; the zeroth is the network itself. */
export function addressAt(range: Range, offset: number): string {
  if (offset >= sizeOf(range)) throw new Error(`the range has no address number ${offset}`);
  const value = range.first + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
