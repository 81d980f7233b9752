// kube-controller-manager of one machine: one of them leads, the others wait. It signs what was asked for and approved,
// for kubelets and for people, and nothing else: it has no other signer's key.
import { controllerManagerPort } from '../contract/ports.ts';
import { kubernetesTlsFlags } from '../contract/tls-policy.ts';
import { componentFile, componentKubeconfig } from './control-plane-paths.ts';
import { commandLine, featureGateFlags, staticPod } from './static-pod.ts';

export interface ControllerManagerPodOptions {
  readonly image: string;
  readonly clusterName: string;
  readonly podNetwork: string;
  readonly podPrefix: number;
  readonly serviceNetwork: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly isBootstrap?: boolean;
}

export function controllerManagerPod(options: ControllerManagerPodOptions): object {
  const probe = { path: '/healthz', port: controllerManagerPort, scheme: 'HTTPS', host: '127.0.0.1' } as const;
  const kubeconfig = componentKubeconfig('kube-controller-manager');
  const own = (file: string): string => componentFile('kube-controller-manager', file);
  return staticPod({
    component: 'kube-controller-manager',
    isBootstrap: options.isBootstrap,
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
      'client-ca-file': own('client-ca.crt'),
      'requestheader-client-ca-file': own('front-proxy-ca.crt'),
      'root-ca-file': own('apiserver-ca.crt'),
      'service-account-private-key-file': own('service-account.key'),
      'cluster-signing-kubelet-client-cert-file': own('kubelet-signer.crt'),
      'cluster-signing-kubelet-client-key-file': own('kubelet-signer.key'),
      'cluster-signing-kubelet-serving-cert-file': own('kubelet-signer.crt'),
      'cluster-signing-kubelet-serving-key-file': own('kubelet-signer.key'),
      // For people. It refuses usages other than those of a client, and the API refuses the group system:masters.
      'cluster-signing-kube-apiserver-client-cert-file': own('kubelet-signer.crt'),
      'cluster-signing-kube-apiserver-client-key-file': own('kubelet-signer.key'),
      // The default, said: nobody gets a certificate for longer, whatever the request asks for.
      'cluster-signing-duration': '8760h0m0s',
      // Pods that have ended and nobody removed; the default is 12,500 of them.
      'terminated-pod-gc-threshold': '1000',
      profiling: 'false',
      ...kubernetesTlsFlags,
      ...featureGateFlags(options.featureGates),
    }),
    startup: probe,
    liveness: probe,
    cpuRequest: '200m',
  });
}
