// The MachineConfigs that every cluster starts with, generated from the software of a machine and the cluster's facts.
// They have the names of existing clusters, so that a MachineConfig written to come after one of them still does.
import { programs, runtimeMappingsSeed, torcxKeyringSeed } from '../contract/machine-paths.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import type { SoftwareFacts } from '../machine-software/machine-software.ts';
import {
  baseSoftware,
  containerRuntimeSoftware,
  ignitionConfig,
  kubeletSoftware,
} from '../machine-software/machine-software.ts';
import { nodeBootstrapUnits } from '../torcx/node-bootstrap-unit.ts';
import type { ControllerConfig, MachineConfig } from './machine-config.ts';
import { configSpec, generatedAnnotation, roleLabel } from './machine-config.ts';

export const baseRoles = ['master', 'worker'] as const;
export type BaseRole = (typeof baseRoles)[number];

/** All names that a generated MachineConfig may have here. */
export const baseNames: readonly string[] = baseRoles.flatMap((role) => [
  `00-${role}`,
  ...['container-runtime', 'kubelet', 'node-bootstrap'].map((part) => `01-${role}-${part}`),
]);

/** `generatedBy`: the version of this program, for the annotation that marks generated MachineConfigs. */
export function baseMachineConfigs(facts: SoftwareFacts, generatedBy: string): readonly MachineConfig[] {
  const { nodeBootstrap } = facts;
  const configs = (role: BaseRole): readonly (readonly [name: string, config: IgnitionConfig])[] => [
    [`00-${role}`, ignitionConfig([baseSoftware(role, facts)])],
    [`01-${role}-container-runtime`, ignitionConfig([containerRuntimeSoftware(facts)])],
    [`01-${role}-kubelet`, ignitionConfig([kubeletSoftware(role, facts)])],
    ...(nodeBootstrap === undefined
      ? []
      : [[`01-${role}-node-bootstrap`, nodeBootstrapConfig(nodeBootstrap)] as const]),
  ];
  return baseRoles.flatMap((role) =>
    configs(role).map(([name, config]) => ({
      metadata: { name, labels: { [roleLabel]: role }, annotations: { [generatedAnnotation]: generatedBy } },
      spec: configSpec(config),
    })),
  );
}

function nodeBootstrapConfig({ units, files = [] }: NonNullable<SoftwareFacts['nodeBootstrap']>): IgnitionConfig {
  const { ignition, storage } = ignitionConfig([{ files, directories: [], units: [] }]);
  return { ignition, ...(files.length === 0 ? {} : { storage: { files: storage?.files ?? [] } }), systemd: { units } };
}

/** `99-<role>-ssh`: the keys with which a person may log in as `core`. It counts as a user's, not as generated. */
export function sshMachineConfig(role: BaseRole, keys: readonly string[]): MachineConfig {
  return {
    metadata: { name: `99-${role}-ssh`, labels: { [roleLabel]: role }, annotations: {} },
    spec: configSpec({
      ignition: { version: latestSpec },
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: keys }] },
    }),
  };
}

export function clusterFactsOf({ spec }: ControllerConfig): SoftwareFacts {
  return {
    apiServerUrl: spec.apiServerInternalURL,
    clusterDns: [spec.clusterDNSIP],
    clusterDomain: spec.clusterDomain,
    clusterNetworks: spec.network.clusterNetworks,
    machineNetworks: spec.network.machineNetworks,
    pauseImage: spec.images.pause,
    registries: spec.registries,
    kubeletEnvironment: spec.kubeletEnvironment,
    mastersSchedulable: spec.mastersSchedulable,
    security: spec.security,
    ...(spec.authentication === undefined ? {} : { authentication: spec.authentication }),
    ...proxyFactsOf(spec),
    ...releaseFactsOf(spec),
    ...(spec.featureGates === undefined ? {} : { featureGates: spec.featureGates }),
    ...(spec.controlPlane === undefined ? {} : { controlPlane: spec.controlPlane }),
    ...(spec.rootCAData === undefined
      ? {}
      : { configServerCaPem: Buffer.from(spec.rootCAData, 'base64').toString('utf8') }),
    ...(spec.nodeBootstrap === undefined ? {} : { nodeBootstrap: nodeBootstrapOf(spec.nodeBootstrap) }),
  };
}

function proxyFactsOf({
  proxy,
  additionalTrustBundle,
}: ControllerConfig['spec']): Pick<SoftwareFacts, 'proxy' | 'additionalTrustBundle'> {
  return {
    ...(proxy === undefined ? {} : { proxy: { ...proxy, noProxy: proxy.noProxy.split(',') } }),
    ...(additionalTrustBundle === undefined
      ? {}
      : { additionalTrustBundle: Buffer.from(additionalTrustBundle, 'base64').toString('utf8') }),
  };
}

function releaseFactsOf({ releaseImage, images }: ControllerConfig['spec']): Pick<SoftwareFacts, 'release'> {
  const { machineConfigOperatorImage: daemonImage } = images;
  return releaseImage === undefined || daemonImage === undefined ? {} : { release: { releaseImage, daemonImage } };
}

/**
 * The flags of a user come last and win. Pauses are a fifth of the original's: a failed unit starts again by itself,
 * and masters boot while the API does.
 */
const ownTorcxFlags = [`--keyring=${torcxKeyringSeed}`, '--pause-scale=0.2'];

function nodeBootstrapOf({
  torcx,
  units,
}: NonNullable<ControllerConfig['spec']['nodeBootstrap']>): NonNullable<SoftwareFacts['nodeBootstrap']> {
  if (torcx === undefined) return { units };
  const { upgradeOS: upgradesOs, skipSetup: skipsSetup, manifestURL: manifestUrl, runtimeMappings, keyring } = torcx;
  const flags = [...ownTorcxFlags, ...torcx.flags];
  const program = programs.firstlight;
  return {
    units: [...nodeBootstrapUnits({ program, upgradesOs, skipsSetup, manifestUrl, flags }), ...units],
    files: [
      ...(runtimeMappings === '' ? [] : [{ path: runtimeMappingsSeed, text: runtimeMappings }]),
      ...(keyring === '' ? [] : [{ path: torcxKeyringSeed, text: keyring }]),
    ],
  };
}
