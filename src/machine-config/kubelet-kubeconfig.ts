// The kubeconfig with which a new kubelet asks for its certificate, before the config server adds a token. In one
// place, because the workstation writes it for the bootstrap machine and every master builds it again: both must be
// equal.
import type { KubeconfigOptions } from '../kubernetes/kubeconfig.ts';

export interface KubeletKubeconfigFacts {
  readonly clusterName: string;
  /** With the name api-int, by which machines reach the API. */
  readonly server: string;
  readonly caPem: string;
}

export function kubeletKubeconfigOptions({ clusterName, server, caPem }: KubeletKubeconfigFacts): KubeconfigOptions {
  return { cluster: clusterName, server, caPem, user: 'kubelet-bootstrap' };
}
