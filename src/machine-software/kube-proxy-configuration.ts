// The configuration of kube-proxy: nftables, and hands off the connection-tracking limits, which a machine without
// the right capability cannot write and which a machine with it may have set on purpose.
import { toYaml } from '../kubernetes/yaml.ts';
import type { FeatureGates } from './kubelet-configuration.ts';
import { kubeProxyKubeconfig } from '../contract/machine-paths.ts';

export interface KubeProxyOptions {
  /** The pod ranges of the cluster. */
  readonly clusterNetworks: readonly string[];
  readonly featureGates?: FeatureGates;
}

export function kubeProxyConfigurationText({ clusterNetworks, featureGates = {} }: KubeProxyOptions): string {
  return toYaml({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: kubeProxyKubeconfig },
    clusterCIDR: clusterNetworks.join(','),
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    ...(Object.keys(featureGates).length === 0 ? {} : { featureGates }),
  });
}
