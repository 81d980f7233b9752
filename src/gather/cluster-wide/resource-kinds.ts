// Which objects are taken from the API: a list of kinds, and never Secrets or what holds their values. A test keeps it
// so.
import { attemptKind } from '../../contract/in-place.ts';
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import type { ObjectKind } from '../../kubernetes/object.ts';

export interface ResourceKind extends ObjectKind {
  /** Of the cluster's own namespaces only: objects of this kind hold what users put into them. */
  readonly isOwnOnly?: boolean;
  /** Only name, labels and annotations; the content would be large. */
  readonly isMetadataOnly?: boolean;
}

const core = (kind: string): ResourceKind => ({ apiVersion: 'v1', kind });
const apps = (kind: string): ResourceKind => ({ apiVersion: 'apps/v1', kind });
const config = (kind: string): ResourceKind => ({ apiVersion: 'config.openshift.io/v1', kind });
const machineConfig = (kind: string): ResourceKind => ({ apiVersion: machineConfigPoolKind.apiVersion, kind });

export const resourceKinds: readonly ResourceKind[] = [
  ...['Node', 'Pod', 'Event', 'Namespace', 'Service', 'PersistentVolume', 'PersistentVolumeClaim'].map(core),
  { ...core('ConfigMap'), isOwnOnly: true },
  { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  ...['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'].map(apps),
  { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', isMetadataOnly: true },
  ...[
    'ClusterVersion',
    'ClusterOperator',
    'Infrastructure',
    'Network',
    'DNS',
    'Ingress',
    'Proxy',
    'APIServer',
    'Scheduler',
  ].map(config),
  machineConfigPoolKind,
  ...['MachineConfig', 'ControllerConfig', 'KubeletConfig'].map(machineConfig),
  attemptKind,
];

/** `Pod` → `pods`; `machineconfiguration…/MachineConfig` → `machineconfigs`: the name of the file. */
export function resourceFile({ kind }: ObjectKind): string {
  const name = kind.toLowerCase();
  return /(?:s|y)$/.test(name) ? name.replace(/y$/, 'ie').replace(/s$/, 'se').concat('s') : `${name}s`;
}

/** The namespaces of the cluster itself. */
export function isOwnNamespace(namespace: string): boolean {
  return /^(?:kube-|openshift-)|^(?:ipb-system|tectonic-system)$/.test(namespace);
}
