// The `networking` section. Ranges are IPv4 and written canonically; network-rules.ts checks them against each other.

import { z } from 'zod';
import { defaultMachineNetwork } from '../contract/addresses.ts';
import { rangeMistake, rangePattern } from './cidr.ts';
import { textField } from './text-field.ts';

const range = textField({
  mistake: rangeMistake,
  allowed: 'an IPv4 range that begins at its first address, like 10.99.0.0/24',
});
const rangeMeta = { pattern: rangePattern };

// Not openshift-install's 10.0.0.0/16: that is the most likely range of the network around the host. This one is apart
// from pods and Services and from what Docker, Podman and libvirt take, and large enough for any cluster on one host.

const machineNetworkEntry = z.strictObject({
  cidr: range.meta({ ...rangeMeta, description: 'The range, like 10.99.0.0/24.' }),
});

const clusterNetworkEntry = z.strictObject({
  cidr: range.meta({ ...rangeMeta, description: 'The range that all pods share.' }),
  hostPrefix: z
    .int()
    .min(8)
    .max(30)
    .default(23)
    .meta({
      description:
        'The size of the piece each node gets, as a prefix length: 23 gives a node 510 pod addresses. ' +
        'At least the prefix of cidr, at most 16 longer.',
    }),
});

const serviceRange = range.meta({ ...rangeMeta, description: 'The range, between /12 and /28.' });

const onlyOne = (reason: string) => (issue: { readonly code?: string }) =>
  issue.code === 'too_big' ? `has more than one entry; ${reason}` : undefined;

const otherPlugin = 'is a network that Firstlight does not install';

export const networkingSchema = z.strictObject({
  networkType: z
    .literal('Firstlight', { error: (issue) => (issue.code === 'invalid_value' ? otherPlugin : undefined) })
    .default('Firstlight')
    .meta({
      description:
        'What connects pods across machines. Firstlight: a plain route to each node, kept by the node agent.',
    }),
  machineNetwork: z
    .array(machineNetworkEntry)
    .min(1)
    .prefault([{ cidr: defaultMachineNetwork }])
    .meta({
      description:
        'Where the machines have their addresses. Platform local takes them from its one range; with platform none, ' +
        'list every range your machines are in.',
    }),
  clusterNetwork: z
    .tuple([clusterNetworkEntry], {
      error: onlyOne('kube-controller-manager hands out the nodes’ pieces of one IPv4 range'),
    })
    .prefault([{ cidr: '10.128.0.0/14', hostPrefix: 23 }])
    .meta({ description: 'Where pods have their addresses, and how much of it each node gets.' }),
  serviceNetwork: z
    .tuple([serviceRange], { error: onlyOne('kube-apiserver takes one IPv4 range') })
    .prefault(['172.30.0.0/16'])
    .meta({ description: 'Where Services have their addresses. Never seen outside the cluster.' }),
});
