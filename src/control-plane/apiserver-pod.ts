// kube-apiserver of one machine. It uses only the etcd member of the same machine, so its list of endpoints never
// changes and it never has to be restarted for that.
import { apiPort, etcdPorts } from '../contract/ports.ts';
import {
  bundleFile,
  certificateFile,
  encryptionFile,
  keyFile,
  pkiFolder,
  serviceAccountFiles,
} from './control-plane-paths.ts';
import { commandLine, featureGateFlags, staticPod } from './static-pod.ts';

export interface ApiserverPodOptions {
  readonly image: string;
  /** The address under which the other machines reach this apiserver. */
  readonly advertiseAddress: string;
  readonly serviceNetwork: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** How long it still serves, as not ready, after the signal to end. Default 5 s. */
  readonly shutdownDelaySeconds?: number;
  /** It never stores much: collecting garbage less often saves a quarter of the processor time of its start. */
  readonly isShortLived?: boolean;
}

export function apiserverPod(options: ApiserverPodOptions): object {
  const {
    image,
    advertiseAddress,
    serviceNetwork,
    featureGates,
    shutdownDelaySeconds = 5,
    isShortLived = false,
  } = options;
  const probe = (path: string) => ({ path, port: apiPort, scheme: 'HTTPS', host: advertiseAddress }) as const;
  return staticPod({
    component: 'kube-apiserver',
    image,
    command: commandLine('kube-apiserver', {
      'advertise-address': advertiseAddress,
      'secure-port': String(apiPort),
      'allow-privileged': 'true',
      'service-cluster-ip-range': serviceNetwork,
      ...authentication,
      ...storage,
      ...towardsKubelets,
      // Longer than the load balancer needs to see that it is not ready.
      'shutdown-delay-duration': `${shutdownDelaySeconds}s`,
      'shutdown-send-retry-after': 'true',
      ...featureGateFlags(featureGates),
    }),
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    cpuRequest: '250m',
    environment: isShortLived ? { GOGC: '300' } : {},
    folders: [{ path: pkiFolder, isWritable: false }],
  });
}

const authentication = {
  'authorization-mode': 'Node,RBAC',
  'enable-admission-plugins': 'NodeRestriction',
  'enable-bootstrap-token-auth': 'true',
  'client-ca-file': bundleFile('client-ca'),
  'tls-cert-file': certificateFile('kube-apiserver'),
  'tls-private-key-file': keyFile('kube-apiserver'),
  'tls-min-version': 'VersionTLS12',
  'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
  'service-account-key-file': serviceAccountFiles.public,
  'service-account-signing-key-file': serviceAccountFiles.key,
  'requestheader-client-ca-file': bundleFile('front-proxy-ca'),
  'requestheader-allowed-names': 'front-proxy-client',
  'requestheader-username-headers': 'X-Remote-User',
  'requestheader-group-headers': 'X-Remote-Group',
  'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  'proxy-client-cert-file': certificateFile('front-proxy-client'),
  'proxy-client-key-file': keyFile('front-proxy-client'),
  profiling: 'false',
} as const;

const storage = {
  'etcd-servers': `https://127.0.0.1:${etcdPorts.client}`,
  'etcd-cafile': bundleFile('etcd-ca'),
  'etcd-certfile': certificateFile('apiserver-etcd-client'),
  'etcd-keyfile': keyFile('apiserver-etcd-client'),
  'endpoint-reconciler-type': 'lease',
  'encryption-provider-config': encryptionFile,
  'encryption-provider-config-automatic-reload': 'true',
} as const;

const towardsKubelets = {
  'kubelet-certificate-authority': bundleFile('kubelet-serving-ca'),
  'kubelet-client-certificate': certificateFile('apiserver-kubelet-client'),
  'kubelet-client-key': keyFile('apiserver-kubelet-client'),
  'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
} as const;
