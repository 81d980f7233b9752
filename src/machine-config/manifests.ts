// Our typed values as objects of the API, for manifests: what readObjects reads back from them is equal.
import type { SoftwareFacts } from '../machine-software/machine-software.ts';
import type { MachineConfig, MachineConfigSpec } from './machine-config.ts';
import { apiVersion } from './machine-config.ts';

/** Without the fields that say nothing. */
export function machineConfigManifest({ metadata, spec }: MachineConfig): object {
  const { config, ...settings } = spec;
  const said = Object.entries(settings).filter(([name, value]) => !saysNothing(name as keyof MachineConfigSpec, value));
  return {
    apiVersion,
    kind: 'MachineConfig',
    metadata: metadataOf(metadata),
    spec: { config, ...Object.fromEntries(said) },
  };
}

export function controllerConfigManifest(facts: SoftwareFacts): object {
  return {
    apiVersion,
    kind: 'ControllerConfig',
    metadata: { name: 'machine-config-controller' },
    spec: {
      apiServerInternalURL: facts.apiServerUrl,
      clusterDNSIP: facts.clusterDns[0],
      clusterDomain: facts.clusterDomain,
      network: { clusterNetworks: facts.clusterNetworks, machineNetworks: facts.machineNetworks },
      images: { pause: facts.pauseImage },
      mastersSchedulable: facts.mastersSchedulable,
      ...(facts.controlPlane === undefined ? {} : { controlPlane: facts.controlPlane }),
      ...(facts.configServerCaPem === undefined
        ? {}
        : { rootCAData: Buffer.from(facts.configServerCaPem).toString('base64') }),
      kubeletEnvironment: facts.kubeletEnvironment,
      registries: facts.registries,
      ...wayOutOf(facts),
      ...(facts.featureGates === undefined ? {} : { featureGates: facts.featureGates }),
      ...(facts.nodeBootstrap === undefined ? {} : { nodeBootstrap: facts.nodeBootstrap }),
    },
  };
}

function wayOutOf({ proxy, additionalTrustBundle }: SoftwareFacts): object {
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

function saysNothing(name: keyof MachineConfigSpec, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || (name === 'fips' && value === false);
}
