// The fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) of the kubelet that we install, by the kind of
// their values, and those that are not the user's to set. The kubelet itself ignores a misspelled field in silence.
import { distance } from 'fastest-levenshtein';
import { onSharedDisk } from '../machine-software/kubelet-configuration.ts';

type ValueKind = 'boolean' | 'number' | 'text' | 'duration' | 'list' | 'object';

const fieldsByKind: Readonly<Record<ValueKind, readonly string[]>> = {
  boolean: [
    'cgroupsPerQOS',
    'cpuCFSQuota',
    'enableContentionProfiling',
    'enableControllerAttachDetach',
    'enableDebugFlagsHandler',
    'enableDebuggingHandlers',
    'enableProfilingHandler',
    'enableServer',
    'enableSystemLogHandler',
    'enableSystemLogQuery',
    'failCgroupV1',
    'failSwapOn',
    'kernelMemcgNotification',
    'localStorageCapacityIsolation',
    'makeIPTablesUtilChains',
    'mergeDefaultEvictionSettings',
    'protectKernelDefaults',
    'registerNode',
    'rotateCertificates',
    'runOnce',
    'seccompDefault',
    'serializeImagePulls',
    'serverTLSBootstrap',
    'singleProcessOOMKill',
  ],
  number: [
    'containerLogMaxFiles',
    'containerLogMaxWorkers',
    'eventBurst',
    'eventRecordQPS',
    'evictionMaxPodGracePeriod',
    'healthzPort',
    'imageGCHighThresholdPercent',
    'imageGCLowThresholdPercent',
    'iptablesDropBit',
    'iptablesMasqueradeBit',
    'kubeAPIBurst',
    'kubeAPIQPS',
    'maxOpenFiles',
    'maxParallelImagePulls',
    'maxPods',
    'memoryThrottlingFactor',
    'nodeLeaseDurationSeconds',
    'nodeStatusMaxImages',
    'oomScoreAdj',
    'podPidsLimit',
    'podsPerCore',
    'port',
    'readOnlyPort',
    'registryBurst',
    'registryPullQPS',
  ],
  text: [
    'address',
    'cgroupDriver',
    'cgroupRoot',
    'clusterDomain',
    'configMapAndSecretChangeDetectionStrategy',
    'containerLogMaxSize',
    'containerRuntimeEndpoint',
    'contentType',
    'cpuManagerPolicy',
    'hairpinMode',
    'healthzBindAddress',
    'imagePullCredentialsVerificationPolicy',
    'imageServiceEndpoint',
    'kubeReservedCgroup',
    'kubeletCgroups',
    'memoryManagerPolicy',
    'memoryReservationPolicy',
    'podCIDR',
    'podLogsDir',
    'providerID',
    'reservedSystemCPUs',
    'resolvConf',
    'showHiddenMetricsForVersion',
    'staticPodPath',
    'staticPodURL',
    'systemCgroups',
    'systemReservedCgroup',
    'tlsCertFile',
    'tlsMinVersion',
    'tlsPrivateKeyFile',
    'topologyManagerPolicy',
    'topologyManagerScope',
    'volumePluginDir',
  ],
  duration: [
    'containerLogMonitorInterval',
    'cpuCFSQuotaPeriod',
    'cpuManagerReconcilePeriod',
    'evictionPressureTransitionPeriod',
    'fileCheckFrequency',
    'httpCheckFrequency',
    'imageMaximumGCAge',
    'imageMinimumGCAge',
    'nodeStatusReportFrequency',
    'nodeStatusUpdateFrequency',
    'runtimeRequestTimeout',
    'shutdownGracePeriod',
    'shutdownGracePeriodCriticalPods',
    'streamingConnectionIdleTimeout',
    'syncFrequency',
    'volumeStatsAggPeriod',
  ],
  list: [
    'allowedUnsafeSysctls',
    'clusterDNS',
    'enforceNodeAllocatable',
    'preloadedImagesVerificationAllowlist',
    'registerWithTaints',
    'reservedMemory',
    'shutdownGracePeriodByPodPriority',
    'tlsCipherSuites',
    'tlsCurvePreferences',
  ],
  object: [
    'authentication',
    'authorization',
    'cpuManagerPolicyOptions',
    'crashLoopBackOff',
    'defaultPodSysctls',
    'evictionHard',
    'evictionMinimumReclaim',
    'evictionSoft',
    'evictionSoftGracePeriod',
    'featureGates',
    'kubeReserved',
    'logging',
    'memorySwap',
    'qosReserved',
    'staticPodURLHeader',
    'systemReserved',
    'topologyManagerPolicyOptions',
    'tracing',
    'userNamespaces',
  ],
};

export const kubeletFields: ReadonlyMap<string, ValueKind> = new Map(
  Object.entries(fieldsByKind).flatMap(([kind, fields]) => fields.map((field) => [field, kind as ValueKind])),
);

const ofCluster = 'the cluster decides it';
const ofMachine = 'each machine finds it out by itself at every boot';
const keepsNode = 'a machine could leave its cluster by it';

/** Upstream refuses the first group too. */
const refusedFields: Readonly<Record<string, string>> = {
  cgroupDriver: ofMachine,
  clusterDNS: ofCluster,
  clusterDomain: ofCluster,
  failSwapOn: ofCluster,
  featureGates: `${ofCluster}; set featureGates in the install-config`,
  memorySwap: ofCluster,

  failCgroupV1: ofMachine,
  protectKernelDefaults: ofMachine,
  resolvConf: ofMachine,
  shutdownGracePeriod: ofMachine,
  shutdownGracePeriodCriticalPods: ofMachine,

  authentication: keepsNode,
  authorization: keepsNode,
  containerRuntimeEndpoint: keepsNode,
  enableServer: keepsNode,
  imageServiceEndpoint: keepsNode,
  port: keepsNode,
  registerNode: keepsNode,
  rotateCertificates: keepsNode,
  serverTLSBootstrap: keepsNode,
  tlsCertFile: keepsNode,
  tlsPrivateKeyFile: keepsNode,
};

/** As `onSharedDisk` of the machine's own settings, which win over these. */
const refusedOnSharedDisk = Object.keys(onSharedDisk);

export interface KubeletFieldsContext {
  readonly isControlPlane: boolean;
  readonly sharesHost: boolean;
}

/** One sentence per field that cannot be set so. */
export function kubeletFieldProblems(
  fields: Readonly<Record<string, unknown>>,
  { isControlPlane, sharesHost }: KubeletFieldsContext,
): readonly string[] {
  return Object.entries(fields).flatMap(([field, value]): readonly string[] => {
    const kind = kubeletFields.get(field);
    if (field === 'apiVersion' || field === 'kind') return [];
    if (kind === undefined) return [`kubeletConfig.${field} is unknown${nearText(field)}`];
    const why = refusedFields[field];
    if (why !== undefined) return [`kubeletConfig.${field} cannot be set: ${why}`];
    if (sharesHost && refusedOnSharedDisk.includes(field)) {
      return [`kubeletConfig.${field} cannot be set: these machines share the disk of their host`];
    }
    if (field === 'staticPodPath') return staticPodProblems(value, isControlPlane);
    return isOfKind(kind, value) ? [] : [`kubeletConfig.${field} has to be ${kindText[kind]}`];
  });
}

function staticPodProblems(value: unknown, isControlPlane: boolean): readonly string[] {
  if (isControlPlane) return ['kubeletConfig.staticPodPath cannot be set: the control plane is started from there'];
  return value === '' ? [] : ['kubeletConfig.staticPodPath can only be empty, which means no static pods'];
}

function nearText(field: string): string {
  const near = [...kubeletFields.keys()].find((known) => distance(known.toLowerCase(), field.toLowerCase()) <= 2);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

const kindText: Readonly<Record<ValueKind, string>> = {
  boolean: 'true or false',
  number: 'a number',
  text: 'a text',
  duration: 'a duration such as 10s or 1h30m',
  list: 'a list',
  object: 'an object',
};

function isOfKind(kind: ValueKind, value: unknown): boolean {
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string';
    case 'duration':
      return typeof value === 'string' && /^(0|(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+)$/.test(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}
