// kube-controller-manager of one machine: one of them leads, the others wait. It signs approved requests of kubelets
// and nothing else: it has no other signer's key.
import { controllerManagerPort } from '../contract/ports.ts';
import { kubernetesTlsFlags } from '../contract/tls-policy.ts';
import {
  bundleFile,
  certificateFile,
  componentKubeconfig,
  componentKubeconfigFolder,
  keyFile,
  pkiFolder,
  serviceAccountFiles,
} from './control-plane-paths.ts';
import { commandLine, featureGateFlags, staticPod } from './static-pod.ts';

export interface ControllerManagerPodOptions {
  readonly image: string;
  readonly clusterName: string;
  readonly podNetwork: string;
  readonly podPrefix: number;
  readonly serviceNetwork: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

export function controllerManagerPod(options: ControllerManagerPodOptions): object {
  const probe = { path: '/healthz', port: controllerManagerPort, scheme: 'HTTPS', host: '127.0.0.1' } as const;
  const kubeconfig = componentKubeconfig('kube-controller-manager');
  return staticPod({
    component: 'kube-controller-manager',
    image: options.image,
    command: commandLine('kube-controller-manager', {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'leader-elect': 'true',
      controllers: '*,bootstrapsigner,tokencleaner',
      'use-service-account-credentials': 'true',
      // It requests an account and a token for every controller before the first one starts. With the default of 20
      // requests a second this takes five seconds, in which no kubelet gets a certificate and no node a pod range.
      'kube-api-qps': '150',
      'kube-api-burst': '300',
      'cluster-name': options.clusterName,
      'allocate-node-cidrs': 'true',
      'cluster-cidr': options.podNetwork,
      'node-cidr-mask-size': String(options.podPrefix),
      'service-cluster-ip-range': options.serviceNetwork,
      'client-ca-file': bundleFile('client-ca'),
      'requestheader-client-ca-file': bundleFile('front-proxy-ca'),
      'root-ca-file': bundleFile('apiserver-ca'),
      'service-account-private-key-file': serviceAccountFiles.key,
      'cluster-signing-kubelet-client-cert-file': certificateFile('kubelet-signer'),
      'cluster-signing-kubelet-client-key-file': keyFile('kubelet-signer'),
      'cluster-signing-kubelet-serving-cert-file': certificateFile('kubelet-signer'),
      'cluster-signing-kubelet-serving-key-file': keyFile('kubelet-signer'),
      // Pods that have ended and nobody removed; the default is 12,500 of them.
      'terminated-pod-gc-threshold': '1000',
      profiling: 'false',
      ...kubernetesTlsFlags,
      ...featureGateFlags(options.featureGates),
    }),
    startup: probe,
    liveness: probe,
    cpuRequest: '200m',
    folders: [
      { path: pkiFolder, isWritable: false },
      { path: componentKubeconfigFolder, isWritable: false },
    ],
  });
}
