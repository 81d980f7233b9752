// MachineConfigs and the ControllerConfig as objects of the API, for manifests. Reading them back with readObjects
// gives equal values.
import type { SoftwareFacts } from '../machine-software/machine-software.ts';
import type { MachineConfig, MachineConfigSpec, TorcxFields } from './machine-config.ts';
import { apiVersion } from './machine-config.ts';
import type { MachineTraits } from './unsupported.ts';

/** Without fields that have their default. */
export function machineConfigManifest({ metadata, spec }: MachineConfig): object {
  const { config, ...settings } = spec;
  const given = Object.entries(settings).filter(([name, value]) => !isDefault(name as keyof MachineConfigSpec, value));
  return {
    apiVersion,
    kind: 'MachineConfig',
    metadata: metadataOf(metadata),
    spec: { config, ...Object.fromEntries(given) },
  };
}

interface ControllerConfigExtras {
  /** What the platform says about machines; without it nothing is refused on their account. */
  readonly machines?: MachineTraits;
  /** What prepares nodes, where it is generated; otherwise the units of the facts. */
  readonly torcx?: TorcxFields;
}

export function controllerConfigManifest(facts: SoftwareFacts, extras: ControllerConfigExtras = {}): object {
  const { machines, torcx } = extras;
  const nodeBootstrap = torcx === undefined ? facts.nodeBootstrap : { torcx };
  return {
    apiVersion,
    kind: 'ControllerConfig',
    metadata: { name: 'machine-config-controller' },
    spec: {
      apiServerInternalURL: facts.apiServerUrl,
      clusterDNSIP: facts.clusterDns[0],
      clusterDomain: facts.clusterDomain,
      network: { clusterNetworks: facts.clusterNetworks, machineNetworks: facts.machineNetworks },
      images: {
        pause: facts.pauseImage,
        ...(facts.release === undefined ? {} : { machineConfigOperatorImage: facts.release.daemonImage }),
      },
      ...(facts.release === undefined ? {} : { releaseImage: facts.release.releaseImage }),
      mastersSchedulable: facts.mastersSchedulable,
      ...(machines === undefined ? {} : { machines }),
      security: facts.security,
      ...(facts.authentication === undefined ? {} : { authentication: facts.authentication }),
      ...(facts.controlPlane === undefined ? {} : { controlPlane: facts.controlPlane }),
      ...(facts.configServerCaPem === undefined
        ? {}
        : { rootCAData: Buffer.from(facts.configServerCaPem).toString('base64') }),
      kubeletEnvironment: facts.kubeletEnvironment,
      registries: facts.registries,
      ...proxyFields(facts),
      ...(facts.featureGates === undefined ? {} : { featureGates: facts.featureGates }),
      ...(nodeBootstrap === undefined ? {} : { nodeBootstrap }),
    },
  };
}

function proxyFields({ proxy, additionalTrustBundle }: SoftwareFacts): object {
  return {
    ...(proxy === undefined ? {} : { proxy: { ...proxy, noProxy: proxy.noProxy.join(',') } }),
    ...(additionalTrustBundle === undefined
      ? {}
      : { additionalTrustBundle: Buffer.from(additionalTrustBundle).toString('base64') }),
  };
}

function metadataOf({ name, labels, annotations }: MachineConfig['metadata']): object {
  return { name, labels, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
}

function isDefault(name: keyof MachineConfigSpec, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || (name === 'fips' && value === false);
}
