// Packets from pods to the outside get the address of their node, because no router outside has a route back to a pod.
// Packets between pods are not rewritten. Without this an outside name server never answers CoreDNS, and every lookup
// of an outside name takes five seconds.

import { programs } from '../contract/machine-paths.ts';
import { unitNames } from '../contract/unit-names.ts';
import { prepareUnit } from './node-units.ts';
import type { ServiceUnit } from './unit.ts';

export const podEgressFile = '/etc/firstlight/pod-egress.nft';

/** The input of `nft -f`: one transaction that replaces the whole table, whatever its contents were. */
export function podEgressText({ clusterNetworks }: { readonly clusterNetworks: readonly string[] }): string {
  const pods = `{ ${clusterNetworks.join(', ')} }`;
  return `table ip firstlight
delete table ip firstlight
table ip firstlight {
  chain pod-egress {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${pods} ip daddr != ${pods} masquerade
  }
}
`;
}

export const podEgressUnit: ServiceUnit = {
  name: 'firstlight-pod-egress.service',
  why: 'Lets pods reach what is outside the cluster under the address of their node.',
  isEnabled: true,
  unit: {
    Description: 'Way of pods out of the cluster',
    After: ['network.target', prepareUnit.name],
    Before: [unitNames.kubelet],
  },
  service: {
    Type: 'oneshot',
    RemainAfterExit: true,
    ExecStart: { program: programs.nft, args: ['-f', podEgressFile] },
    Restart: 'on-failure',
    RestartSec: 1,
  },
  install: { WantedBy: ['multi-user.target'] },
};
