// Where a control-plane machine keeps its keys, kubeconfigs and pods. The same on the bootstrap machine and on masters,
// so that a pod rendered for one runs unchanged on the other.
import { controlPlanePki, kubernetesFolder, staticPodFolder } from '../contract/machine-paths.ts';
import { secretsEncryptionFile } from '../contract/secrets-encryption.ts';
import type { LeafName, SignerName } from '../pki/profiles.ts';
import type { TrustBundleName } from '../pki/trust-bundles.ts';

export const pkiFolder = controlPlanePki;
export const componentKubeconfigFolder = kubernetesFolder;

export const serviceAccountFiles = {
  key: `${pkiFolder}/service-account.key`,
  public: `${pkiFolder}/service-account.pub`,
} as const;

/** kube-apiserver reads it again every minute. It is replaced by renaming, so a pod must mount its folder. */
export const encryptionFile = `${pkiFolder}/${secretsEncryptionFile}`;

export function certificateFile(name: LeafName | SignerName): string {
  return `${pkiFolder}/${name}.crt`;
}

export function keyFile(name: LeafName | SignerName): string {
  return `${pkiFolder}/${name}.key`;
}

export function bundleFile(name: TrustBundleName): string {
  return `${pkiFolder}/${name}.crt`;
}

export type ControlPlaneComponent = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

export function podFile(component: ControlPlaneComponent): string {
  return `${staticPodFolder}/${component}-pod.yaml`;
}

export function componentKubeconfig(component: 'kube-controller-manager' | 'kube-scheduler'): string {
  return `${componentKubeconfigFolder}/${component}.kubeconfig`;
}
