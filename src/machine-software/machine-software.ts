// What is installed on a machine by configuration: files, folders and units, put together per role from the generators
// beside this file. The assets of the bootstrap machine and the base MachineConfigs of the pools both come from here,
// so a bootstrap machine and a master differ only where this file says so.
import { type AuthenticationSettings, noIssuers } from '../contract/authentication-settings.ts';
import type { ReleaseReference } from '../contract/in-place.ts';
import * as paths from '../contract/machine-paths.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import { type ControlPlaneFacts, nodeSettingsText, type PodRouteFacts } from '../contract/node-settings.ts';
import { kubeProxyHealthPort } from '../contract/ports.ts';
import type { SecuritySettings } from '../contract/security-settings.ts';
import type { Directory, FileNode, IgnitionConfig, Unit } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import { apiserverConfiguration } from './apiserver-configuration.ts';
import { bootstrapScripts } from './bootstrap-scripts.ts';
import {
  bootkubeUnit,
  bootstrapUnits,
  masterConfigServerUnit,
  releaseImagePivotUnit,
  tectonicUnit,
} from './bootstrap-units.ts';
import { containerdConfigText } from './containerd-config.ts';
import { environmentText } from './environment-file.ts';
import { ignitionUnits, type UnitDropin } from './ignition-unit.ts';
import type { FeatureGates, Taint } from './kubelet-configuration.ts';
import { controlPlaneTaint, kubeletConfigurationText } from './kubelet-configuration.ts';
import {
  agentUnit,
  containerdUnit,
  controlPlaneUnit,
  kubeletUnit,
  kubeProxyPathUnit,
  kubeProxyUnit,
  prepareUnit,
} from './node-units.ts';
import { podEgressFile, podEgressText, podEgressUnit } from './pod-egress.ts';
import { type MachineProxy, proxyDropins, proxyEnvironmentText } from './proxy.ts';
import type { Registry } from './registry-hosts.ts';
import { registryHostsFile } from './registry-hosts.ts';
import { sysctlText } from './sysctls.ts';
import { authorityFiles, systemTrustDropins, systemTrustUnit } from './system-trust.ts';
import type { SystemdUnit } from './unit.ts';

/** What the software of a machine must know about its cluster; the same for all machines. */
export interface SoftwareFacts {
  /** `https://api-int.<cluster>.<baseDomain>:6443` */
  readonly apiServerUrl: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Pod ranges of the cluster. */
  readonly clusterNetworks: readonly string[];
  /** Networks of the machines, from which a node takes its address. */
  readonly machineNetworks: readonly string[];
  readonly pauseImage: string;
  readonly registries: readonly Registry[];
  /** Known when a release runs; a machine that is bootstrapped in place takes the daemon from it. */
  readonly release?: ReleaseReference;
  /** Lines of kubelet.env. Also what the runtime add-on's own kubelet.env is made from. */
  readonly kubeletEnvironment: Readonly<Record<string, string>>;
  /** Masters also take ordinary pods (a cluster without workers). */
  readonly mastersSchedulable: boolean;
  readonly security: SecuritySettings;
  /** Issuers of tokens, for every kube-apiserver. */
  readonly authentication?: AuthenticationSettings;
  readonly proxy?: MachineProxy;
  /** PEM certificates of authorities that machines trust besides those of their system. */
  readonly additionalTrustBundle?: string;
  /** Of Kubernetes, for every component. */
  readonly featureGates?: FeatureGates;
  /** The authority by which machines verify the config server when they ask it for more than their configuration. */
  readonly configServerCaPem?: string;
  /** What masters make their pods and certificates from. */
  readonly controlPlane?: ControlPlaneFacts;
  /**
   * Units that prepare a node before its first kubelet (k8s-node-bootstrap.service, and what it asks of
   * kubelet.service), and what they read. They write kubelet.env at the end, so Ignition writes only the input of it.
   */
  readonly nodeBootstrap?: { readonly units: readonly Unit[]; readonly files?: readonly MachineFile[] };
}

export interface MachineFile {
  readonly path: string;
  readonly text: string;
  /** Default 0644. */
  readonly mode?: number;
  /** The number of the user and of the group that it belongs to. Default root. */
  readonly owner?: number;
}

export interface SoftwarePart {
  readonly files: readonly MachineFile[];
  readonly directories: readonly string[];
  readonly units: readonly SystemdUnit[];
  readonly dropins?: readonly UnitDropin[];
}

/** Settings and units that are neither the container runtime's nor the kubelet's. */
export function baseSoftware(role: MachineRole, facts: SoftwareFacts): SoftwarePart {
  const inCluster = role !== 'bootstrap';
  const outside = outsideWorldSoftware(role, facts);
  return {
    files: [
      { path: paths.sysctlFile, text: sysctlText() },
      {
        path: paths.nodeSettingsFile,
        text: nodeSettingsText({
          role,
          apiServerUrl: facts.apiServerUrl,
          machineNetworks: facts.machineNetworks,
          ...(role === 'master' ? controlPlaneOf(facts) : {}),
          ...(role === 'worker' ? podRoutesOf(facts) : {}),
        }),
      },
      ...apiserverFiles(role, facts),
      ...(inCluster
        ? [
            { path: paths.kubeProxyConfiguration, text: kubeProxyConfigurationText(facts), mode: 0o600 },
            { path: podEgressFile, text: podEgressText(facts) },
          ]
        : []),
      ...(inCluster && facts.configServerCaPem !== undefined
        ? [{ path: paths.configServerCa, text: facts.configServerCaPem }]
        : []),
      ...(inCluster && facts.release !== undefined
        ? [{ path: paths.releaseReferenceFile, text: `${JSON.stringify(facts.release, null, 2)}\n` }]
        : []),
      ...(role === 'bootstrap' ? bootstrapScripts : []),
      ...outside.files,
    ],
    directories: [],
    units: [
      prepareUnit,
      ...outside.units,
      ...(inCluster ? [podEgressUnit, agentUnit, kubeProxyUnit, kubeProxyPathUnit] : []),
      ...(role === 'master' ? [controlPlaneUnit, masterConfigServerUnit] : []),
      ...(role === 'bootstrap' ? bootstrapUnits : []),
    ],
    dropins: outside.dropins,
  };
}

/** On the bootstrap machine stage 4 renders who is believed, and stage 13 puts it in place. */
function apiserverFiles(
  role: MachineRole,
  { security, authentication = noIssuers }: SoftwareFacts,
): readonly MachineFile[] {
  if (role === 'worker') return [];
  return role === 'bootstrap' ? apiserverConfiguration(security) : apiserverConfiguration(security, authentication);
}

/** With the feature gates: the pods of a master get the same ones as its kubelet. */
function controlPlaneOf({ controlPlane, featureGates }: SoftwareFacts): { readonly controlPlane?: ControlPlaneFacts } {
  if (controlPlane === undefined) return {};
  return { controlPlane: { ...controlPlane, ...(featureGates === undefined ? {} : { featureGates }) } };
}

function podRoutesOf({ controlPlane }: SoftwareFacts): { readonly podRoutes?: PodRouteFacts } {
  if (controlPlane === undefined) return {};
  const { podNetwork, podPrefix, apiVips } = controlPlane;
  return { podRoutes: { podNetwork, podPrefix, apiVips } };
}

interface KubeProxyOptions {
  /** The pod ranges of the cluster. */
  readonly clusterNetworks: readonly string[];
  readonly featureGates?: FeatureGates;
}

/**
 * kube-proxy with nftables. It leaves the limits of connection tracking alone: a machine without the right capability
 * cannot write them, and a machine with it may have set them on purpose.
 */
export function kubeProxyConfigurationText({ clusterNetworks, featureGates = {} }: KubeProxyOptions): string {
  return toYaml({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: paths.kubeProxyKubeconfig },
    clusterCIDR: clusterNetworks.join(','),
    conntrack: { maxPerCore: 0, min: 0 },
    // As upstream: a load balancer asks each node whether it may send it traffic for a Service.
    healthzBindAddress: `0.0.0.0:${kubeProxyHealthPort}`,
    metricsBindAddress: '127.0.0.1:10249',
    enableProfiling: false,
    ...(Object.keys(featureGates).length === 0 ? {} : { featureGates }),
  });
}

/**
 * How a machine reaches the outside world: through a proxy, and with the user's own authorities. Only the units that go
 * there get both; those that talk to the API or to their own machine are left as they are.
 */
function outsideWorldSoftware(role: MachineRole, facts: SoftwareFacts): Required<SoftwarePart> {
  const { proxy, additionalTrustBundle } = facts;
  const ours =
    role === 'bootstrap' ? [releaseImagePivotUnit.name, bootkubeUnit.name, tectonicUnit.name] : [agentUnit.name];
  const all = [containerdUnit.name, kubeletUnit({ mode: 'cluster' }).name, ...ours, ...preparingUnits(role, facts)];
  const environment =
    proxy === undefined ? [] : [{ path: paths.proxyEnvironment, text: proxyEnvironmentText(proxy), mode: 0o600 }];
  const hasTrust = additionalTrustBundle !== undefined;
  return {
    files: [...environment, ...(hasTrust ? authorityFiles(additionalTrustBundle) : [])],
    directories: [],
    units: hasTrust ? [systemTrustUnit] : [],
    dropins: [
      ...(proxy === undefined ? [] : proxyDropins(proxy, { units: all, isBootstrap: role === 'bootstrap' })),
      ...(hasTrust ? systemTrustDropins(ours) : []),
    ],
  };
}

/** The units that prepare a node, without what they add to units of ours. */
function preparingUnits(role: MachineRole, { nodeBootstrap }: SoftwareFacts): readonly string[] {
  if (role === 'bootstrap') return [];
  return (nodeBootstrap?.units ?? []).filter(({ contents }) => contents !== undefined).map(({ name }) => name);
}

export function containerRuntimeSoftware(facts: SoftwareFacts): SoftwarePart {
  return {
    files: [
      { path: paths.containerdConfig, text: containerdConfigText(facts) },
      ...facts.registries.map((registry) => registryHostsFile(registry)),
    ],
    directories: [],
    units: [containerdUnit],
  };
}

export function kubeletSoftware(role: MachineRole, facts: SoftwareFacts): SoftwarePart {
  // The bootstrap machine never waits for an add-on: it uses the runtime of its image, and it exists for minutes.
  const isPreparedFirst = role !== 'bootstrap' && facts.nodeBootstrap !== undefined;
  return {
    files: [
      {
        path: paths.kubeletConfiguration,
        text: kubeletConfigurationText(kubeletRole(role, facts), facts),
        mode: 0o600,
      },
      {
        path: isPreparedFirst ? paths.kubeletEnvironmentSeed : paths.kubeletEnvironment,
        text: environmentText(facts.kubeletEnvironment),
      },
    ],
    // The kubelet watches this folder by inotify only if it exists when the kubelet starts.
    directories: [paths.staticPodFolder],
    units: [kubeletUnit({ mode: role === 'bootstrap' ? 'standalone' : 'cluster' })],
  };
}

function kubeletRole(role: MachineRole, facts: SoftwareFacts): Parameters<typeof kubeletConfigurationText>[0] {
  if (role === 'bootstrap') return { kind: 'standalone' };
  const taints: readonly Taint[] = role === 'master' && !facts.mastersSchedulable ? [controlPlaneTaint] : [];
  return { kind: 'cluster', clusterDns: facts.clusterDns, clusterDomain: facts.clusterDomain, taints };
}

/** The parts as one Ignition config; the order of the parts is the order of the entries. */
export function ignitionConfig(parts: readonly SoftwarePart[]): IgnitionConfig {
  const directories: Directory[] = parts.flatMap((part) =>
    part.directories.map((path) => ({ path, mode: 0o755, overwrite: false })),
  );
  const files: FileNode[] = parts.flatMap((part) =>
    part.files.map(({ path, text, mode = 0o644, owner }) => ({
      path,
      mode,
      ...(owner === undefined ? {} : { user: { id: owner }, group: { id: owner } }),
      overwrite: true,
      contents: { source: dataUrl(text) },
    })),
  );
  return {
    ignition: { version: latestSpec },
    storage: { directories, files },
    systemd: {
      units: ignitionUnits(
        parts.flatMap((part) => part.units),
        parts.flatMap((part) => part.dropins ?? []),
      ),
    },
  };
}
