// Rules about the number of machines of each kind, and about the hosts that a user provides.
import { isUsableIn, readAddress, readRange } from './cidr.ts';
import { masterCount, platformOf, workerCount } from './cluster-facts.ts';
import { type HostRole, hostRoles } from './machines-schema.ts';
import type { ConfigRule, RuleFinding, RuleInput } from './rule.ts';

const hosts = ['hosts'] as const;
const masters = ['controlPlane', 'replicas'] as const;
const workers = ['compute', 0, 'replicas'] as const;

function evenMasters({ config }: RuleInput): readonly RuleFinding[] {
  const count = masterCount(config);
  if (count % 2 === 1) return [];
  const majority = count / 2 + 1;
  const reason =
    count === 2
      ? 'etcd needs a majority, of 2 members that is both, so the loss of either stops the cluster'
      : `etcd needs a majority, of ${count} members that is ${majority}, so it survives the loss of ` +
        `${count - majority}, as ${count - 1} do, and a network split in halves stops it`;
  return [{ path: masters, message: `controlPlane.replicas ${count}: ${reason}`, allowed: '1, 3, 5, 7' }];
}

/** Every entry that repeats an earlier one. */
function repeated(entries: readonly (readonly [text: string, finding: RuleFinding])[]): readonly RuleFinding[] {
  const seen = new Set<string>();
  return entries.flatMap(([text, finding]) => {
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew ? [] : [finding];
  });
}

function repeatedHosts({ config }: RuleInput): readonly RuleFinding[] {
  const names = config.hosts.map(
    ({ name }, i) => [name, { path: [...hosts, i, 'name'], message: `the host name ${name} is used twice` }] as const,
  );
  const addresses = config.hosts.flatMap((host, i) =>
    host.addresses.map((address, j) => {
      const path = [...hosts, i, 'addresses', j];
      return [address, { path, message: `the address ${address} of ${host.name} is used twice` }] as const;
    }),
  );
  return [...repeated(names), ...repeated(addresses)];
}

function strayAddresses({ config }: RuleInput): readonly RuleFinding[] {
  const networks = config.networking.machineNetwork.map(({ cidr }) => readRange(cidr));
  const allowed = config.networking.machineNetwork.map(({ cidr }) => cidr).join(', ');
  return config.hosts.flatMap((host, i) =>
    host.addresses.flatMap((address, j) => {
      if (networks.some((network) => isUsableIn(readAddress(address), network))) return [];
      const message = `the address ${address} of ${host.name} is not one of a machine in machineNetwork`;
      return [{ path: [...hosts, i, 'addresses', j], message, allowed }];
    }),
  );
}

function hostCounts({ config }: RuleInput): readonly RuleFinding[] {
  if (config.hosts.length === 0 || platformOf(config) !== 'none') return [];
  const wanted: Readonly<Record<HostRole, number>> = {
    bootstrap: 1,
    master: masterCount(config),
    worker: workerCount(config),
  };
  const reason: Readonly<Record<HostRole, string>> = {
    bootstrap: 'one machine starts the cluster',
    master: `controlPlane.replicas is ${wanted.master}`,
    worker: `compute[0].replicas is ${wanted.worker}`,
  };
  return hostRoles.flatMap((role) => {
    const count = config.hosts.filter((host) => host.role === role).length;
    if (count === wanted[role]) return [];
    return [{ path: hosts, message: `hosts has ${count} with the role ${role}, but ${reason[role]}` }];
  });
}

export const machineRules: readonly ConfigRule[] = [
  {
    name: 'odd-masters',
    says: 'The number of masters is odd: an even number survives no more losses than one fewer, and a split in halves stops it.',
    severity: 'mistake',
    reads: [masters],
    find: evenMasters,
  },
  {
    name: 'one-architecture',
    says: 'Masters and workers have the same architecture.',
    severity: 'mistake',
    reads: [['controlPlane', 'architecture'], ['compute']],
    find: ({ config, isWritten }) => {
      const [ours, theirs] = [config.controlPlane.architecture, config.compute[0].architecture];
      if (ours === theirs) return [];
      const worker = ['compute', 0, 'architecture'] as const;
      const path = isWritten(worker) ? worker : (['controlPlane', 'architecture'] as const);
      return [
        { path, message: `masters are ${ours} and workers ${theirs}; both pools must have the same architecture` },
      ];
    },
  },
  {
    name: 'local-architecture',
    says: 'Machines of platform local have the architecture of the host they run on.',
    severity: 'mistake',
    reads: [['platform'], ['controlPlane', 'architecture']],
    find: ({ config, architecture }) => {
      if (platformOf(config) !== 'local' || config.controlPlane.architecture === architecture) return [];
      const message = `architecture ${config.controlPlane.architecture}: local machines run on this host, which is ${architecture}`;
      return [{ path: ['controlPlane', 'architecture'], message }];
    },
  },
  {
    name: 'hosts-are-listed',
    says: 'With platform none, hosts are listed: without them the bootstrap does not end.',
    severity: 'warning',
    reads: [hosts, ['platform']],
    find: ({ config }) => {
      if (config.hosts.length > 0 || platformOf(config) !== 'none') return [];
      const message = 'hosts is empty: the handoff has to know the machines, so the bootstrap will not end';
      return [{ path: ['platform'], message }];
    },
  },
  {
    name: 'hosts-need-platform-none',
    says: 'hosts are given only with platform none.',
    severity: 'mistake',
    reads: [hosts, ['platform']],
    find: ({ config }) => {
      if (config.hosts.length === 0 || platformOf(config) === 'none') return [];
      return [
        { path: hosts, message: 'hosts are machines you bring; platform local makes its own (platform: {none: {}})' },
      ];
    },
  },
  {
    name: 'hosts-unique',
    says: 'No two hosts share a name or an address.',
    severity: 'mistake',
    reads: [hosts],
    find: repeatedHosts,
  },
  {
    name: 'hosts-in-machine-network',
    says: 'Every address of a host is inside machineNetwork.',
    severity: 'mistake',
    reads: [hosts, ['networking', 'machineNetwork']],
    find: strayAddresses,
  },
  {
    name: 'hosts-match-replicas',
    says: 'Where hosts are given, they are one bootstrap machine and as many masters and workers as there are replicas.',
    severity: 'mistake',
    reads: [hosts, masters, ['compute'], ['platform']],
    find: hostCounts,
  },
  {
    name: 'single-master',
    says: 'One master is no high availability.',
    severity: 'warning',
    reads: [masters],
    find: ({ config }) => {
      if (masterCount(config) !== 1) return [];
      return [{ path: masters, message: 'controlPlane.replicas 1: without this one master there is no cluster' }];
    },
  },
  {
    name: 'no-workers',
    says: 'With no workers the masters are made schedulable.',
    severity: 'warning',
    reads: [['compute']],
    find: ({ config }) => {
      if (workerCount(config) > 0) return [];
      return [{ path: workers, message: 'compute[0].replicas 0: the masters are made schedulable and run everything' }];
    },
  },
];
