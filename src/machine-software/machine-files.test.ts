import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { cniNetworkText } from './cni-network.ts';
import { kubeletConfigurationText } from './kubelet-configuration.ts';
import { kubeProxyConfigurationText } from './machine-software.ts';
import { registryHostsFile } from './registry-hosts.ts';
import { sysctlText } from './sysctls.ts';

describe('a registry', () => {
  test('is asked last, after its mirrors', () => {
    const { path, text } = registryHostsFile({
      name: 'docker.io',
      mirrors: [{ url: 'https://a.example.com', caFile: '/ca' }, { url: 'https://b.example.com/v2/proxy' }],
    });
    expect(path).toBe('/etc/containerd/certs.d/docker.io/hosts.toml');
    expect(parseToml(text)).toEqual({
      server: 'https://registry-1.docker.io',
      host: {
        'https://a.example.com': { capabilities: ['pull', 'resolve'], ca: '/ca' },
        'https://b.example.com/v2/proxy': { capabilities: ['pull', 'resolve'], override_path: true },
      },
    });
  });

  test('may have mirrors that are believed about digests alone', () => {
    const mirrors = [{ url: 'https://a.example.com' }];
    const { text } = registryHostsFile({ name: 'x.example.com', mirrors, isDigestOnly: true });
    expect(parseToml(text)).toMatchObject({ host: { 'https://a.example.com': { capabilities: ['pull'] } } });
  });

  test('that is blocked is never asked', () => {
    const { text } = registryHostsFile({ name: 'x.example.com', mirrors: [], isBlocked: true });
    expect(parseToml(text)).toMatchObject({ server: 'https://blocked.invalid' });
  });
});

test('a pod network gives each family its range and its way out, and never masquerades', () => {
  const network = JSON.parse(cniNetworkText({ podRanges: ['10.128.1.0/24', 'fd01::/64'], mtu: 1450 })) as {
    plugins: unknown[];
  };
  expect(network.plugins[0]).toEqual({
    type: 'ptp',
    ipMasq: false,
    mtu: 1450,
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: '10.128.1.0/24' }], [{ subnet: 'fd01::/64' }]],
      routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
    },
  });
});

test('kube-proxy leaves the connection-tracking limits of the machine alone', () => {
  expect(parseYaml(kubeProxyConfigurationText({ clusterNetworks: ['10.128.0.0/14', 'fd01::/48'] }))).toMatchObject({
    mode: 'nftables',
    clusterCIDR: '10.128.0.0/14,fd01::/48',
    conntrack: { maxPerCore: 0, min: 0 },
  });
});

test('feature gates are in the configuration of the kubelet and of kube-proxy, and nothing where there are none', () => {
  const featureGates = { One: true, Two: false };
  expect(parseYaml(kubeletConfigurationText({ kind: 'standalone' }, { featureGates }))).toMatchObject({ featureGates });
  expect(parseYaml(kubeProxyConfigurationText({ clusterNetworks: [], featureGates }))).toMatchObject({ featureGates });
  expect(kubeletConfigurationText({ kind: 'standalone' })).not.toContain('featureGates');
});

test('a standalone kubelet opens no port to the network', () => {
  expect(parseYaml(kubeletConfigurationText({ kind: 'standalone' }))).toMatchObject({
    enableServer: false,
    authentication: { anonymous: { enabled: false } },
    readOnlyPort: 0,
  });
});

test('no kernel setting that cannot be written keeps a machine from starting', () => {
  const settings = sysctlText()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(settings.length).toBeGreaterThan(0);
  expect(settings.filter((line) => !/^-[a-z0-9_.]+ = \d+$/.test(line))).toEqual([]);
});

test('a kubelet asks who calls, offers no profiling, limits pods and speaks modern TLS only', () => {
  const role = { kind: 'cluster', clusterDns: [], clusterDomain: 'cluster.local', taints: [] } as const;
  const configuration = parseYaml(kubeletConfigurationText(role)) as { readonly tlsCipherSuites: readonly string[] };
  expect(configuration).toMatchObject({
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    authorization: { mode: 'Webhook' },
    readOnlyPort: 0,
    rotateCertificates: true,
    serverTLSBootstrap: true,
    seccompDefault: true,
    enableProfilingHandler: false,
    podPidsLimit: 4096,
    tlsMinVersion: 'VersionTLS12',
  });
  expect(configuration.tlsCipherSuites.filter((name) => !/^TLS_ECDHE_.*(GCM|POLY1305)/.test(name))).toEqual([]);
});

test('a user may leave containers without a seccomp profile', () => {
  const text = kubeletConfigurationText({ kind: 'standalone' }, { security: { seccompDefault: false } });
  expect(parseYaml(text)).toMatchObject({ seccompDefault: false });
});
