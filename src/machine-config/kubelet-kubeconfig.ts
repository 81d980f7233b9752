// The kubeconfig with which a new kubelet asks for its certificate, before the config server puts a token into it. One
// place, because the workstation writes it for the bootstrap machine and every master builds it anew: both must say the
// same.
import type { KubeconfigOptions } from '../kubernetes/kubeconfig.ts';

export interface KubeletKubeconfigFacts {
  readonly clusterName: string;
  /** api-int: what machines call the API. */
  readonly server: string;
  readonly caPem: string;
}

export function kubeletKubeconfigOptions({ clusterName, server, caPem }: KubeletKubeconfigFacts): KubeconfigOptions {
  return { cluster: clusterName, server, caPem, user: 'kubelet-bootstrap' };
}
