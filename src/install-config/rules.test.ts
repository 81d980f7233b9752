// Every rule, broken and kept. The cases are files, so that what a person would write is what is judged.
import { describe, expect, test } from 'vitest';
import { authenticationCases } from '../../test/arbitrary/authentication-cases.ts';
import { someAuthority } from '../../test/arbitrary/install-config.ts';
import { checkInstallConfig } from './parse.ts';
import { configRules } from './rules.ts';

const none = 'platform: {none: {}}\n';
const hosts = (...rows: readonly string[]) =>
  `${none}controlPlane: {replicas: 1}\ncompute: [{replicas: 0}]\nhosts:\n${rows.join('')}`;
const host = (name: string, role: string, address: string) =>
  `- {name: ${name}, role: ${role}, addresses: [${address}]}\n`;
const pods = (cidr: string, hostPrefix: number) =>
  `networking: {clusterNetwork: [{cidr: ${cidr}, hostPrefix: ${hostPrefix}}]}`;
const services = (cidr: string) => `networking: {serviceNetwork: [${cidr}]}`;
const machines = (...cidrs: readonly string[]) =>
  `networking: {machineNetwork: [${cidrs.map((cidr) => `{cidr: ${cidr}}`).join(', ')}]}`;
const mirrors = (source: string, ...names: readonly string[]) =>
  `imageDigestSources: [{source: "${source}", mirrors: [${names.map((name) => `"${name}"`).join(', ')}]}]`;
const bundle = `additionalTrustBundle: ${JSON.stringify(someAuthority)}`;
const long = Array.from({ length: 4 }, () => 'a'.repeat(60)).join('.');

interface Case {
  readonly rule: string;
  readonly broken: string;
  readonly says: string;
  readonly kept: string;
}

const cases: readonly Case[] = [
  ...authenticationCases,
  {
    rule: 'one-platform',
    broken: 'platform: {local: {}, none: {}}',
    says: 'platform names local and none at once',
    kept: none,
  },
  {
    rule: 'domain-length',
    broken: `baseDomain: ${long}`,
    says: 'names in the cluster’s domain would have 258 characters, DNS allows 253',
    kept: `baseDomain: ${long.slice(10)}`,
  },
  {
    rule: 'local-name-is-one-label',
    broken: 'metadata: {name: a.b}',
    says: 'metadata.name a.b has a dot, which platform local cannot use',
    kept: `${none}metadata: {name: a.b}`,
  },
  {
    rule: 'proxy-has-url',
    broken: 'proxy: {noProxy: a.test}',
    says: 'proxy has neither httpProxy nor httpsProxy',
    kept: 'proxy: {httpProxy: "http://a.test:1"}',
  },
  {
    rule: 'capability-on-or-off',
    broken: 'capabilities: {additionalEnabledCapabilities: [DNS], disabledCapabilities: [Storage, DNS]}',
    says: 'DNS is enabled and disabled at once',
    kept: 'capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [DNS]}',
  },
  {
    rule: 'capability-changes-something',
    broken: 'capabilities: {baselineCapabilitySet: Minimal, disabledCapabilities: [Registry]}',
    says: 'Registry is not in the set Minimal anyway',
    kept: 'capabilities: {disabledCapabilities: [Registry]}',
  },
  {
    rule: 'feature-gates-need-feature-set',
    broken: 'featureGates: [A=true]',
    says: 'featureGates need featureSet: CustomNoUpgrade',
    kept: 'featureGates: [A=true]\nfeatureSet: CustomNoUpgrade',
  },
  {
    rule: 'feature-gates-once',
    broken: 'featureGates: [A=true, B=true, A=false]\nfeatureSet: CustomNoUpgrade',
    says: 'the feature gate A is given twice',
    kept: 'featureGates: [A=true, B=true]\nfeatureSet: CustomNoUpgrade',
  },
  {
    rule: 'mirror-keeps-path',
    broken: mirrors('r.test/team', 'm.test/team', 'm.test/other'),
    says:
      'm.test/other cannot mirror r.test/team: containerd asks a mirror for the path in the image’s name, ' +
      'so the path of the mirror must end with /team',
    kept: mirrors('r.test/team', 'm.test/team', 'm.test/copies/team', 'm.test:5000/a/b/team'),
  },
  {
    rule: 'mirror-keeps-path',
    broken: mirrors('r.test/team', 'm.test/ateam'),
    says:
      'm.test/ateam cannot mirror r.test/team: containerd asks a mirror for the path in the image’s name, ' +
      'so the path of the mirror must end with /team',
    kept: mirrors('r.test', 'm.test', 'm.test/copies'),
  },
  {
    rule: 'trust-bundle-is-used',
    broken: bundle,
    says: 'additionalTrustBundle is not used: no proxy is set, and additionalTrustBundlePolicy is Proxyonly, not Always',
    kept: `${bundle}\nadditionalTrustBundlePolicy: Always`,
  },
  {
    rule: 'trust-bundle-is-used',
    broken: bundle,
    says: 'additionalTrustBundle is not used: no proxy is set, and additionalTrustBundlePolicy is Proxyonly, not Always',
    kept: `${bundle}\nproxy: {httpProxy: "http://a.test:1"}`,
  },
  {
    rule: 'odd-masters',
    broken: 'controlPlane: {replicas: 4}',
    says:
      'controlPlane.replicas 4: etcd needs a majority, of 4 members that is 3, so it survives the loss of 1, ' +
      'as 3 do, and a network split in halves stops it',
    kept: 'controlPlane: {replicas: 5}',
  },
  {
    rule: 'one-architecture',
    broken: `${none}controlPlane: {architecture: arm64}`,
    says: 'masters are arm64 and workers amd64; both pools must have the same architecture',
    kept: `${none}controlPlane: {architecture: arm64}\ncompute: [{architecture: arm64}]`,
  },
  {
    rule: 'local-architecture',
    broken: 'controlPlane: {architecture: arm64}\ncompute: [{architecture: arm64}]',
    says: 'architecture arm64: local machines run on this host, which is amd64',
    kept: 'controlPlane: {architecture: amd64}',
  },
  {
    rule: 'hosts-need-platform-none',
    broken: `hosts:\n${host('a', 'master', '10.99.0.9')}`,
    says: 'hosts are machines you bring; platform local makes its own (platform: {none: {}})',
    kept: 'hosts: []',
  },
  {
    rule: 'hosts-unique',
    broken: hosts(host('a', 'bootstrap', '10.99.0.9'), host('a', 'master', '10.99.0.8')),
    says: 'the host name a is used twice',
    kept: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.8')),
  },
  {
    rule: 'hosts-unique',
    broken: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.9')),
    says: 'the address 10.99.0.9 of b is used twice',
    kept: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.8')),
  },
  {
    rule: 'hosts-in-machine-network',
    broken: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.255')),
    says: 'the address 10.99.0.255 of b is not one of a machine in machineNetwork',
    kept: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.254')),
  },
  {
    rule: 'hosts-match-replicas',
    broken: hosts(host('b', 'master', '10.99.0.8')),
    says: 'hosts has 0 with the role bootstrap, but one machine starts the cluster',
    kept: hosts(host('a', 'bootstrap', '10.99.0.9'), host('b', 'master', '10.99.0.8')),
  },
  {
    rule: 'single-master',
    broken: 'controlPlane: {replicas: 1}',
    says: 'controlPlane.replicas 1: without this one master there is no cluster',
    kept: 'controlPlane: {replicas: 3}',
  },
  {
    rule: 'no-workers',
    broken: 'compute: [{replicas: 0}]',
    says: 'compute[0].replicas 0: the masters are made schedulable and run everything',
    kept: 'compute: [{replicas: 1}]',
  },
  {
    rule: 'ranges-apart',
    broken: pods('172.16.0.0/12', 23),
    says: 'clusterNetwork 172.16.0.0/12 overlaps serviceNetwork 172.30.0.0/16, which is the default',
    kept: pods('172.16.0.0/16', 23),
  },
  {
    rule: 'ranges-apart',
    broken: `${none}${machines('10.1.0.0/16', '10.1.2.0/24')}`,
    says: 'machineNetwork 10.1.2.0/24 overlaps machineNetwork 10.1.0.0/16',
    kept: `${none}${machines('10.1.0.0/16', '10.2.2.0/24')}`,
  },
  {
    rule: 'host-prefix',
    broken: pods('10.128.0.0/14', 12),
    says: 'hostPrefix 12: a node’s piece would be larger than 10.128.0.0/14',
    kept: pods('10.128.0.0/14', 24),
  },
  {
    rule: 'host-prefix',
    broken: pods('10.0.0.0/9', 26).replace('}]}', '}], machineNetwork: [{cidr: 10.200.0.0/24}]}'),
    says: 'hostPrefix 26: too many pieces would be cut from 10.0.0.0/9',
    kept: pods('10.0.0.0/9', 25).replace('}]}', '}], machineNetwork: [{cidr: 10.200.0.0/24}]}'),
  },
  {
    rule: 'pieces-for-all-nodes',
    broken: pods('10.128.0.0/22', 23),
    says: 'clusterNetwork 10.128.0.0/22 with hostPrefix 23 serves 2 nodes; there are 4',
    kept: pods('10.128.0.0/21', 23),
  },
  {
    rule: 'service-range-size',
    broken: services('176.0.0.0/11'),
    says: 'serviceNetwork 176.0.0.0/11 is larger than kube-apiserver takes',
    kept: services('176.0.0.0/12'),
  },
  {
    rule: 'service-range-size',
    broken: services('172.30.0.0/29'),
    says: 'serviceNetwork 172.30.0.0/29 is too small for the Services of the cluster itself',
    kept: services('172.30.0.0/28'),
  },
  {
    rule: 'local-machine-range',
    broken: machines('10.1.0.0/24', '10.2.0.0/24'),
    says: 'machineNetwork 10.2.0.0/24 is a second range; platform local puts its machines in one',
    kept: `${none}${machines('10.1.0.0/24', '10.2.0.0/24')}`,
  },
  {
    rule: 'local-machine-range',
    broken: `compute: [{replicas: 20}]\n${machines('10.1.0.0/27')}`,
    says: 'machineNetwork 10.1.0.0/27 has 30 addresses; the machines of this cluster need 33',
    kept: `compute: [{replicas: 17}]\n${machines('10.1.0.0/27')}`,
  },
  {
    rule: 'pods-per-node',
    broken: pods('10.128.0.0/14', 26),
    says: 'hostPrefix 26 gives a node 62 pod addresses; kubelet allows 110 pods',
    kept: pods('10.128.0.0/14', 25),
  },
  {
    rule: 'common-ranges',
    broken: machines('192.168.0.0/16'),
    says: 'machineNetwork 192.168.0.0/16 overlaps 192.168.122.0/24, which is libvirt’s default network',
    kept: machines('192.168.1.0/24'),
  },
  {
    rule: 'hosts-are-listed',
    broken: none,
    says: 'hosts is empty: the handoff has to know the machines, so the bootstrap will not end',
    kept: '',
  },
  {
    rule: 'torcx-settings-are-used',
    broken: 'torcx: {upgradeOS: false}',
    says: 'torcx is not used: nodeBootstrap is none, not torcx',
    kept: 'nodeBootstrap: torcx\ntorcx: {upgradeOS: false}',
  },
  {
    rule: 'torcx-keyring-is-given',
    broken: `${none}nodeBootstrap: torcx`,
    says: 'torcx.keyring is missing: a machine whose system has torcx packages accepts no list and does not join',
    kept: 'nodeBootstrap: torcx',
  },
];

function found(text: string, severity: 'mistake' | 'warning'): readonly string[] {
  const checked = checkInstallConfig(text, { file: 'f', architecture: 'amd64' });
  const mistakes = checked.status === 'mistaken' ? checked.mistakes : [];
  return (severity === 'mistake' ? mistakes : checked.warnings).map(({ message }) => message);
}

describe('the rules between fields', () => {
  test('each has a case here', () => {
    expect([...new Set(cases.map(({ rule }) => rule))].sort()).toEqual(configRules.map(({ name }) => name).sort());
  });

  test.each(cases)('$rule: $says', ({ rule, broken, says, kept }) => {
    const severity = configRules.find(({ name }) => name === rule)?.severity ?? 'mistake';
    expect(found(broken, severity)).toContain(says);
    expect(found(kept, 'mistake')).toEqual([]);
    expect(found(kept, severity)).not.toContain(says);
  });
});
