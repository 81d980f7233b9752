// Rules about the ranges of machines, pods and Services: disjoint, large enough, and not in use by other software.
import type { FieldPath } from '../source-text/field-path.ts';
import { overlap, readRange, sizeOf } from './cidr.ts';
import { masterCount, platformOf, workerCount } from './cluster-facts.ts';
import type { ConfigRule, RuleFinding, RuleInput } from './rule.ts';

const machineNetwork: FieldPath = ['networking', 'machineNetwork'];
const clusterNetwork: FieldPath = ['networking', 'clusterNetwork'];
const serviceNetwork: FieldPath = ['networking', 'serviceNetwork'];
const ranges = [machineNetwork, clusterNetwork, serviceNetwork];

/** The limit kubeadm sets too: an allocator keeps a bit for every piece. */
const pieceBitsMax = 16;
const podsPerNode = 110;
/** On platform local the machines' addresses begin at the tenth; DNS and the load balancer are below. */
const localReserved = 9;
const localPrefixMax = 27;

/** Ranges that other software takes by default on machines like these. */
const others: readonly (readonly [range: string, who: string])[] = [
  ['172.17.0.0/16', 'Docker’s bridge'],
  ['10.88.0.0/16', 'Podman’s bridge'],
  ['192.168.122.0/24', 'libvirt’s default network'],
  ['100.64.0.0/10', 'carrier-grade NAT and some VPNs'],
];

interface NamedRange {
  readonly name: string;
  readonly cidr: string;
  readonly path: FieldPath;
}

function namedRanges({ config }: RuleInput): readonly NamedRange[] {
  const { machineNetwork: machines, clusterNetwork: pods, serviceNetwork: services } = config.networking;
  return [
    ...machines.map(({ cidr }, i) => ({ name: 'machineNetwork', cidr, path: [...machineNetwork, i, 'cidr'] })),
    ...pods.map(({ cidr }, i) => ({ name: 'clusterNetwork', cidr, path: [...clusterNetwork, i, 'cidr'] })),
    ...services.map((cidr, i) => ({ name: 'serviceNetwork', cidr, path: [...serviceNetwork, i] })),
  ];
}

function overlaps(input: RuleInput): readonly RuleFinding[] {
  const all = namedRanges(input);
  const pairs = all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b] as const));
  return pairs
    .filter(([a, b]) => overlap(readRange(a.cidr), readRange(b.cidr)))
    .map(([a, b]) => {
      // Point at the field that the user wrote; of two written ones at the later.
      const [at, other] = input.isWritten(b.path) ? [b, a] : [a, b];
      const origin = input.isWritten(other.path) ? '' : ', which is the default';
      return { path: at.path, message: `${at.name} ${at.cidr} overlaps ${other.name} ${other.cidr}${origin}` };
    });
}

export const networkRules: readonly ConfigRule[] = [
  {
    name: 'ranges-apart',
    says: 'The ranges of machines, pods and Services do not overlap.',
    severity: 'mistake',
    reads: ranges,
    find: overlaps,
  },
  {
    name: 'host-prefix',
    says: 'hostPrefix is at least the prefix of its cidr and at most 16 longer.',
    severity: 'mistake',
    reads: [clusterNetwork],
    find: ({ config }) =>
      config.networking.clusterNetwork.flatMap(({ cidr, hostPrefix }, i) => {
        const { prefix } = readRange(cidr);
        if (hostPrefix >= prefix && hostPrefix - prefix <= pieceBitsMax) return [];
        const wrong = hostPrefix < prefix ? 'a node’s piece would be larger than' : 'too many pieces would be cut from';
        const allowed = `${Math.max(prefix, 8)} to ${Math.min(prefix + pieceBitsMax, 30)}`;
        const path = [...clusterNetwork, i, 'hostPrefix'];
        return [{ path, message: `hostPrefix ${hostPrefix}: ${wrong} ${cidr}`, allowed }];
      }),
  },
  {
    name: 'pieces-for-all-nodes',
    says: 'clusterNetwork has a piece of the size hostPrefix for every master and worker.',
    severity: 'mistake',
    reads: [clusterNetwork, ['controlPlane'], ['compute']],
    find: ({ config }) => {
      const [{ cidr, hostPrefix }] = config.networking.clusterNetwork;
      const pieces = 2 ** (hostPrefix - readRange(cidr).prefix);
      const nodes = masterCount(config) + workerCount(config);
      if (pieces < 1 || pieces >= nodes) return [];
      const message = `clusterNetwork ${cidr} with hostPrefix ${hostPrefix} serves ${pieces} nodes; there are ${nodes}`;
      return [{ path: [...clusterNetwork, 0, 'cidr'], message }];
    },
  },
  {
    name: 'service-range-size',
    says: 'serviceNetwork is between /12, the most kube-apiserver takes, and /28, which has room for the DNS Service.',
    severity: 'mistake',
    reads: [serviceNetwork],
    find: ({ config }) => {
      const [cidr] = config.networking.serviceNetwork;
      const { prefix } = readRange(cidr);
      if (prefix >= 12 && prefix <= 28) return [];
      const wrong =
        prefix < 12 ? 'larger than kube-apiserver takes' : 'too small for the Services of the cluster itself';
      return [{ path: [...serviceNetwork, 0], message: `serviceNetwork ${cidr} is ${wrong}`, allowed: '/12 to /28' }];
    },
  },
  {
    name: 'local-machine-range',
    says: 'Platform local has one machineNetwork, with room for the bootstrap machine, the masters and the workers.',
    severity: 'mistake',
    reads: [machineNetwork, ['platform'], ['controlPlane'], ['compute']],
    find: ({ config }) => {
      if (platformOf(config) !== 'local') return [];
      const [first, second] = config.networking.machineNetwork;
      if (second !== undefined) {
        const message = `machineNetwork ${second.cidr} is a second range; platform local puts its machines in one`;
        return [{ path: [...machineNetwork, 1, 'cidr'], message }];
      }
      if (first === undefined) return [];
      const needed = localReserved + 1 + masterCount(config) + workerCount(config);
      const range = readRange(first.cidr);
      const usable = Math.max(0, sizeOf(range) - 2);
      if (usable >= needed && range.prefix <= localPrefixMax) return [];
      const message = `machineNetwork ${first.cidr} has ${usable} addresses; the machines of this cluster need ${needed}`;
      return [{ path: [...machineNetwork, 0, 'cidr'], message, allowed: `/${localPrefixMax} or larger` }];
    },
  },
  {
    name: 'pods-per-node',
    says: `A node’s piece has an address for each of the ${podsPerNode} pods kubelet allows.`,
    severity: 'warning',
    reads: [clusterNetwork],
    find: ({ config }) =>
      config.networking.clusterNetwork.flatMap(({ hostPrefix }, i) => {
        const usable = 2 ** (32 - hostPrefix) - 2;
        if (usable >= podsPerNode) return [];
        const message = `hostPrefix ${hostPrefix} gives a node ${usable} pod addresses; kubelet allows ${podsPerNode} pods`;
        return [{ path: [...clusterNetwork, i, 'hostPrefix'], message }];
      }),
  },
  {
    name: 'common-ranges',
    says: 'Ranges that other software takes by default are better avoided.',
    severity: 'warning',
    reads: ranges,
    find: (input) =>
      namedRanges(input).flatMap(({ name, cidr, path }) =>
        others
          .filter(([range]) => overlap(readRange(range), readRange(cidr)))
          .map(([range, who]) => ({ path, message: `${name} ${cidr} overlaps ${range}, which is ${who}` })),
      ),
  },
];
