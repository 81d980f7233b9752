// The kubelet's configuration in two parts that the kubelet merges (`--config`, then `--config-dir`): what holds for
// every machine of a pool, and what only the machine itself can know.
import { containerdSocket, kubeletClientCa, staticPodFolder } from '../contract/machine-paths.ts';
import { hardenedSettings, type SecuritySettings } from '../contract/security-settings.ts';
import { goCipherSuites, kubernetesTlsMinimum } from '../contract/tls-policy.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import type { CgroupDriver } from './containerd-config.ts';

const header = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export type FeatureGates = Readonly<Record<string, boolean>>;

export type KubeletRole =
  | {
      readonly kind: 'cluster';
      readonly clusterDns: readonly string[];
      readonly clusterDomain: string;
      /** Taints the node registers with; later changes belong to the API. */
      readonly taints: readonly Taint[];
    }
  | { readonly kind: 'standalone' };

export const controlPlaneTaint: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };

export interface KubeletOptions {
  readonly featureGates?: FeatureGates;
  readonly security?: Pick<SecuritySettings, 'seccompDefault'>;
}

export function kubeletConfigurationText(role: KubeletRole, options: KubeletOptions = {}): string {
  const { featureGates = {}, security = hardenedSettings } = options;
  return toYaml({
    ...header,
    staticPodPath: staticPodFolder,
    // The kubelet sees changes by inotify; this interval is only the fallback (default 20 s).
    fileCheckFrequency: '5s',
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    failSwapOn: false,
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    serializeImagePulls: false,
    maxParallelImagePulls: 4,
    nodeStatusUpdateFrequency: '4s',
    // A control-plane pod that failed once must not wait five minutes for its next try.
    crashLoopBackOff: { maxContainerRestartPeriod: '10s' },
    ...hardening,
    ...imageCollection,
    seccompDefault: security.seccompDefault,
    ...(Object.keys(featureGates).length === 0 ? {} : { featureGates }),
    ...(role.kind === 'standalone' ? standalone : inCluster(role)),
  });
}

/** Logs, exec and port-forward stay: they ask the API who may. */
const hardening = {
  tlsMinVersion: kubernetesTlsMinimum,
  tlsCipherSuites: goCipherSuites,
  enableProfilingHandler: false,
  enableDebugFlagsHandler: false,
  // A pod that forks without end takes its own processes, not those of the machine.
  podPidsLimit: 4096,
  streamingConnectionIdleTimeout: '1h',
  eventRecordQPS: 50,
  eventBurst: 100,
  makeIPTablesUtilChains: true,
} as const;

/**
 * Below the 85 % at which pods are evicted for the same disk. What nobody used for a week goes in any case. The images
 * of the release are pinned and stay.
 */
const imageCollection = {
  imageGCHighThresholdPercent: 80,
  imageGCLowThresholdPercent: 70,
  imageMinimumGCAge: '10m',
  imageMaximumGCAge: '168h',
} as const;

/** Without an API server the kubelet cannot authenticate callers, so it opens no port. */
const standalone = {
  enableServer: false,
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
} as const;

function inCluster(role: Extract<KubeletRole, { kind: 'cluster' }>): object {
  return {
    clusterDomain: role.clusterDomain,
    clusterDNS: role.clusterDns,
    // The agent asks for the first certificate of the node, and the kubelet renews it.
    rotateCertificates: true,
    serverTLSBootstrap: true,
    ...(role.taints.length === 0 ? {} : { registerWithTaints: role.taints }),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: kubeletClientCa },
    },
    authorization: { mode: 'Webhook' },
  };
}

export interface KubeletMachineOptions {
  readonly cgroupVersion: 1 | 2;
  readonly cgroupDriver: CgroupDriver;
  /** The resolver's own file, where /etc/resolv.conf only names a local stub that pods cannot reach. */
  readonly resolverFile?: string;
  /** Delays a shutdown for pods to end; needs logind. */
  readonly canDelayShutdown: boolean;
  /** The machine shares the disk of its host: the used percentage of that disk says nothing about the machine. */
  readonly sharesDisk: boolean;
  /** The kernel has every setting that the kubelet expects. */
  readonly hasKernelDefaults: boolean;
}

/**
 * On a shared disk that is 85 % full, the defaults would keep every pod away and collect images all the time, whoever
 * filled the disk. So limits for pods are absolute sizes, and images are collected for the sake of the disk only where
 * little is left of it; a kubelet that then cannot free enough says so in an Event and goes on.
 */
export const onSharedDisk = {
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '512Mi',
    'imagefs.available': '512Mi',
    'nodefs.inodesFree': '1%',
    'imagefs.inodesFree': '1%',
  },
  imageGCHighThresholdPercent: 97,
  imageGCLowThresholdPercent: 95,
} as const;

export function kubeletMachineConfigText(options: KubeletMachineOptions): string {
  return toYaml({
    ...header,
    cgroupDriver: options.cgroupDriver,
    // Since 1.35 the kubelet refuses cgroup v1 unless told; on v2 the setting would only hide a mistake.
    ...(options.cgroupVersion === 1 ? { failCgroupV1: false } : {}),
    ...(options.resolverFile === undefined ? {} : { resolvConf: options.resolverFile }),
    ...(options.canDelayShutdown ? { shutdownGracePeriod: '20s', shutdownGracePeriodCriticalPods: '15s' } : {}),
    // Then the kubelet changes nothing and refuses to start on another kernel. Where a setting could not be made (the
    // machine shares the kernel of its host), it must be allowed to try, or it would never start.
    protectKernelDefaults: options.hasKernelDefaults,
    ...(options.sharesDisk ? onSharedDisk : {}),
  });
}
