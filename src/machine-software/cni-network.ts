// The pod network of one node, as the agent writes it once the node has its pod ranges: a point-to-point link per pod,
// addresses from the node's own ranges, no masquerading inside the cluster (peers have routes to these ranges).
import { cniConfigFolder } from '../contract/machine-paths.ts';

export const cniNetworkFile = `${cniConfigFolder}/10-firstlight.conflist`;

export interface CniNetworkOptions {
  /** `spec.podCIDRs` of the Node, one per address family. */
  readonly podRanges: readonly string[];
  readonly mtu?: number;
}

export function cniNetworkText({ podRanges, mtu }: CniNetworkOptions): string {
  const isIpv6 = (range: string): boolean => range.includes(':');
  const routes = [
    ...(podRanges.some((range) => !isIpv6(range)) ? [{ dst: '0.0.0.0/0' }] : []),
    ...(podRanges.some(isIpv6) ? [{ dst: '::/0' }] : []),
  ];
  const network = {
    cniVersion: '1.0.0',
    name: 'firstlight',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ...(mtu === undefined ? {} : { mtu }),
        ipam: { type: 'host-local', ranges: podRanges.map((subnet) => [{ subnet }]), routes },
      },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ],
  };
  return `${JSON.stringify(network, null, 2)}\n`;
}
