import { describe, expect, test } from 'vitest';
import { someAuthority } from '../../test/arbitrary/install-config.ts';
import { hardenedSettings } from '../contract/security-settings.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { decodeDataUrl } from '../ignition/data-url.ts';
import { parseIgnition } from '../ignition/parse.ts';
import { serialize } from '../ignition/serialize.ts';
import type { SoftwareFacts } from '../machine-software/machine-software.ts';
import {
  baseSoftware,
  containerRuntimeSoftware,
  ignitionConfig,
  kubeletSoftware,
} from '../machine-software/machine-software.ts';
import { needsProxyCredentials } from '../machine-software/proxy.ts';
import { baseMachineConfigs, clusterFactsOf, sshMachineConfig } from './base-machine-configs.ts';
import { controllerConfigSchema, type MachineConfig } from './machine-config.ts';
import { controllerConfigManifest } from './manifests.ts';
import { builtInPools } from './pools.ts';
import { renderPool } from './render.ts';
import { specMistakes } from './spec-rules.ts';

const facts: SoftwareFacts = {
  apiServerUrl: 'https://api-int.demo.firstlight.test:6443',
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  clusterNetworks: ['10.128.0.0/14'],
  machineNetworks: ['10.99.0.0/24'],
  pauseImage: 'firstlight.local/pause:1',
  registries: [{ name: 'docker.io', mirrors: [{ url: 'https://mirror.example.com' }] }],
  kubeletEnvironment: { KUBELET_IMAGE_TAG: 'v1.37.1' },
  mastersSchedulable: false,
  security: hardenedSettings,
};

const nodeBootstrap = {
  units: [
    {
      name: 'k8s-node-bootstrap.service',
      enabled: true,
      contents: '[Service]\nExecStart=/bin/x\n[Install]\nWantedBy=a\n',
    },
    {
      name: 'kubelet.service',
      dropins: [{ name: '10-gate.conf', contents: '[Unit]\nAfter=k8s-node-bootstrap.service\n' }],
    },
  ],
};

function rendered(role: string, from: SoftwareFacts = facts) {
  const pool = builtInPools.find(({ metadata }) => metadata.name === role)!;
  return renderPool(pool, baseMachineConfigs(from, 'test'), { generatedBy: 'test' });
}

function contentsOf(machineConfig: Pick<MachineConfig, 'spec'>, path: string): string | undefined {
  const source = machineConfig.spec.config.storage?.files?.find((file) => file.path === path)?.contents?.source;
  const decoded = source === undefined ? undefined : decodeDataUrl(source);
  return decoded?.status === 'decoded' ? Buffer.from(decoded.url.bytes).toString() : undefined;
}

describe('the base MachineConfigs', () => {
  test('have the names that existing clusters have', () => {
    expect(baseMachineConfigs(facts, 'test').map(({ metadata }) => metadata.name)).toEqual([
      '00-master',
      '01-master-container-runtime',
      '01-master-kubelet',
      '00-worker',
      '01-worker-container-runtime',
      '01-worker-kubelet',
    ]);
  });

  test.each(['master', 'worker'])('of %s are fine Ignition without a single warning', (role) => {
    const { machineConfig, warnings } = rendered(role);
    expect(warnings).toEqual([]);
    expect(specMistakes(machineConfig.spec)).toEqual([]);
    expect(parseIgnition(serialize(machineConfig.spec.config))).toMatchObject({
      status: 'parsed',
      report: { errors: [], warnings: [] },
    });
  });

  test('taint masters unless they are for everybody, and never workers', () => {
    const path = '/etc/kubernetes/kubelet-configuration.yaml';
    expect(contentsOf(rendered('master').machineConfig, path)).toContain('node-role.kubernetes.io/control-plane');
    expect(contentsOf(rendered('worker').machineConfig, path)).not.toContain('registerWithTaints');
    const open = rendered('master', { ...facts, mastersSchedulable: true });
    expect(contentsOf(open.machineConfig, path)).not.toContain('registerWithTaints');
  });

  test('give the kubelet its environment, or leave that to the runtime add-on', () => {
    const plain = rendered('worker').machineConfig;
    expect(contentsOf(plain, '/etc/kubernetes/kubelet.env')).toBe('KUBELET_IMAGE_TAG="v1.37.1"\n');
    const withAddon = rendered('worker', { ...facts, nodeBootstrap }).machineConfig;
    expect(contentsOf(withAddon, '/etc/kubernetes/kubelet.env')).toBeUndefined();
    expect(contentsOf(withAddon, '/etc/kubernetes/installer/kubelet.env')).toBe('KUBELET_IMAGE_TAG="v1.37.1"\n');
    const units = withAddon.spec.config.systemd?.units ?? [];
    expect(units.find(({ name }) => name === 'k8s-node-bootstrap.service')).toEqual(nodeBootstrap.units[0]);
    // The agent enables it, when the API knows the machine: the config leaves that open.
    expect(units.find(({ name }) => name === 'kubelet.service')).not.toHaveProperty('enabled');
    expect(units.find(({ name }) => name === 'kubelet.service')).toMatchObject({
      contents: expect.stringContaining('ExecStart='),
      dropins: [{ name: '10-gate.conf' }],
    });
  });

  test('ship what the torcx bootstrapper falls back to as files of the installer, and run it before the kubelet', () => {
    const torcx = { upgradeOS: false, runtimeMappings: 'kind: VersionManifestV1\n', keyring: 'a keyring' };
    const controllerConfig = controllerConfigSchema.parse(controllerConfigManifest(facts, { torcx }));
    const { machineConfig } = rendered('worker', clusterFactsOf(controllerConfig));
    expect(contentsOf(machineConfig, '/etc/kubernetes/installer/runtime-mappings.yaml')).toBe(torcx.runtimeMappings);
    expect(contentsOf(machineConfig, '/etc/kubernetes/installer/pubring.gpg')).toBe('a keyring');
    expect(contentsOf(machineConfig, '/etc/kubernetes/installer/kubelet.env')).toBe('KUBELET_IMAGE_TAG="v1.37.1"\n');
    const unit = machineConfig.spec.config.systemd?.units?.find(({ name }) => name === 'k8s-node-bootstrap.service');
    expect(unit?.contents).toContain('Before=kubelet.service');
    expect(unit?.contents).toContain('--upgrade-os=false');
    expect(unit?.contents).toContain('--keyring=/etc/kubernetes/installer/pubring.gpg');
  });

  test('carry nothing of a single machine', () => {
    expect(JSON.stringify(rendered('master').machineConfig)).not.toContain('hostname-override=m');
    expect(rendered('master').machineConfig).toEqual(rendered('master').machineConfig);
  });

  test('leave the keys of people to a MachineConfig of their own', () => {
    const users = sshMachineConfig('master', ['ssh-ed25519 AAAA']).spec.config.passwd?.users;
    expect(users).toEqual([{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA'] }]);
  });
});

describe('a way out to the world', () => {
  const behind: SoftwareFacts = {
    ...facts,
    proxy: { httpsProxy: 'http://proxy.test:3128', noProxy: ['.svc', '10.99.0.0/24'], hasCredentials: true },
    additionalTrustBundle: `${someAuthority}\n${someAuthority}`,
  };
  const dropinsOf = (config: IgnitionConfig): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(
      (config.systemd?.units ?? [])
        .filter(({ dropins = [] }) => dropins.length > 0)
        .map(({ name, dropins = [] }) => [name, dropins.map((dropin) => dropin.name).sort()]),
    );

  test.each(['master', 'worker'])('is the same in every unit of a %s that goes there, and in no other', (role) => {
    const { machineConfig, warnings } = rendered(role, { ...behind, nodeBootstrap });
    expect(warnings).toEqual([]);
    expect(specMistakes(machineConfig.spec)).toEqual([]);
    expect(dropinsOf(machineConfig.spec.config)).toEqual({
      'containerd.service': ['10-proxy.conf', '20-system-trust.conf'],
      'kubelet.service': ['10-gate.conf', '10-proxy.conf'],
      'firstlight-agent.service': ['10-proxy.conf', '20-system-trust.conf'],
      'k8s-node-bootstrap.service': ['10-proxy.conf'],
    });
    expect(contentsOf(machineConfig, '/etc/firstlight/proxy.env')).toBe(
      'HTTPS_PROXY="http://proxy.test:3128"\nNO_PROXY=".svc,10.99.0.0/24"\n',
    );
    const files = machineConfig.spec.config.storage?.files ?? [];
    expect(files.find(({ path }) => path === '/etc/firstlight/proxy.env')?.mode).toBe(0o600);
    expect(files.map(({ path }) => path).filter((path) => path.startsWith('/usr/local/share/'))).toEqual([
      '/usr/local/share/ca-certificates/firstlight-1.crt',
      '/usr/local/share/ca-certificates/firstlight-2.crt',
    ]);
    expect(needsProxyCredentials(machineConfig.spec.config)).toBe(true);
  });

  test('of a bootstrap machine is that of bootkube, and survives the end of its assets', () => {
    const parts = [baseSoftware('bootstrap', behind), containerRuntimeSoftware(behind)];
    const config = ignitionConfig([...parts, kubeletSoftware('bootstrap', behind)]);
    expect(Object.keys(dropinsOf(config)).sort()).toEqual([
      'bootkube.service',
      'containerd.service',
      'kubelet.service',
      'release-image-pivot.service',
      'tectonic.service',
    ]);
    const kubelet = config.systemd?.units?.find(({ name }) => name === 'kubelet.service');
    expect(kubelet?.dropins?.[0]?.contents).toContain(
      'EnvironmentFile=-/opt/firstlight/config-server/proxy-credentials.env',
    );
  });

  test('is read back from the ControllerConfig as it was written', () => {
    const gates = { ...behind, featureGates: { One: true, Two: false } };
    const object = controllerConfigSchema.parse(controllerConfigManifest(gates));
    expect(clusterFactsOf(object)).toEqual(gates);
  });

  test('never has a password in the ControllerConfig, also not one that a person put there', () => {
    const proxy = { httpProxy: 'http://u:p@proxy.test', noProxy: [], hasCredentials: false };
    const { error } = controllerConfigSchema.safeParse(controllerConfigManifest({ ...behind, proxy }));
    expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining('has a user or a password')]);
  });
});

test('feature gates reach the kubelet, kube-proxy, and on masters the agent, which writes the control plane', () => {
  const featureGates = { One: true, Two: false };
  const controlPlane = {
    clusterName: 'demo',
    clusterId: 'x',
    domain: 'demo.firstlight.test',
    serviceAddresses: ['172.30.0.1'],
    apiVips: [],
    serviceNetwork: '172.30.0.0/16',
    podNetwork: '10.128.0.0/14',
    podPrefix: 23,
    masters: 3,
  };
  const master = rendered('master', { ...facts, featureGates, controlPlane }).machineConfig;
  for (const name of ['kubelet', 'kube-proxy']) {
    const text = contentsOf(master, `/etc/kubernetes/${name}-configuration.yaml`);
    expect(text).toContain('featureGates:\n  One: true\n  Two: false\n');
  }
  expect(JSON.parse(contentsOf(master, '/etc/firstlight/node.json') ?? '')).toMatchObject({
    controlPlane: { featureGates },
  });
});

test('only masters have the unit that ends a control plane in order, and it starts at boot', () => {
  const unitsOf = (role: 'bootstrap' | 'master' | 'worker') =>
    ignitionConfig([baseSoftware(role, facts), kubeletSoftware(role, facts)]).systemd?.units ?? [];
  const endsControlPlane = { name: 'firstlight-control-plane.service', enabled: true };
  expect(unitsOf('master')).toContainEqual(expect.objectContaining(endsControlPlane));
  expect([...unitsOf('worker'), ...unitsOf('bootstrap')].map(({ name }) => name)).not.toContain(endsControlPlane.name);
});

test('a bootstrap machine has the chain of units, a kubelet without an API, and neither agent nor kube-proxy', () => {
  const config = ignitionConfig([
    baseSoftware('bootstrap', facts),
    containerRuntimeSoftware(facts),
    kubeletSoftware('bootstrap', { ...facts, nodeBootstrap }),
  ]);
  expect(config.systemd?.units?.map(({ name }) => name)).toEqual([
    'firstlight-prepare.service',
    'release-image-pivot.service',
    'machine-config-server.service',
    'bootkube.service',
    'approve-csr.service',
    'progress.service',
    'tectonic.service',
    'rm-assets.service',
    'containerd.service',
    'kubelet.service',
  ]);
  expect(config.storage?.files?.map((file) => file.path)).toContain('/etc/kubernetes/kubelet.env');
  expect(config.storage?.directories?.map(({ path }) => path)).toEqual(['/etc/kubernetes/manifests']);
});
