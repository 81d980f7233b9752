// kube-apiserver of one machine. It uses only the etcd member of the same machine, so its list of endpoints never
// changes and it never has to be restarted for that.
import { serviceAccountIssuer } from '../contract/authentication-settings.ts';
import { apiserverConfigFiles, auditLogFile } from '../contract/machine-paths.ts';
import { apiPort, etcdPorts } from '../contract/ports.ts';
import { secretsEncryptionFile } from '../contract/secrets-encryption.ts';
import { kubernetesTlsFlags } from '../contract/tls-policy.ts';
import { certificateFile, componentFile, keyFile } from './control-plane-paths.ts';
import { commandLine, completedPod, featureGateFlags, type PodSkeleton, podSkeleton } from './static-pod.ts';

/** How long it still serves, as not ready, after the signal to end: longer than load balancers need to see that. */
export const apiserverShutdownDelaySeconds = 5;

export interface ApiserverPodOptions {
  readonly image: string;
  /** The address under which the other machines reach this apiserver. */
  readonly advertiseAddress: string;
  readonly serviceNetwork: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Default `apiserverShutdownDelaySeconds`. */
  readonly shutdownDelaySeconds?: number;
  /** It never stores much: collecting garbage less often saves a quarter of the processor time of its start. */
  readonly isBootstrap?: boolean;
}

/** The two parts of the pod that the bootstrap renders before the rest of it. */
export interface ApiserverParts {
  readonly skeleton: PodSkeleton;
  /** Flag → value: whom it trusts, what it shows to whom, and which TLS it speaks. */
  readonly tls: Readonly<Record<string, string>>;
}

export function apiserverPod(options: ApiserverPodOptions, parts = apiserverParts(options)): object {
  const { image, advertiseAddress, serviceNetwork, featureGates } = options;
  const { shutdownDelaySeconds = apiserverShutdownDelaySeconds, isBootstrap = false } = options;
  const flags = {
    'advertise-address': advertiseAddress,
    'secure-port': String(apiPort),
    'allow-privileged': 'true',
    'service-cluster-ip-range': serviceNetwork,
    ...fixedFlags,
    'shutdown-delay-duration': `${shutdownDelaySeconds}s`,
    'shutdown-send-retry-after': 'true',
    ...featureGateFlags(featureGates),
  };
  return completedPod(parts.skeleton, {
    image,
    // A flag that is named again keeps its place on the command line.
    command: commandLine('kube-apiserver', { ...flags, ...parts.tls }),
    environment: isBootstrap ? { GOGC: '300' } : {},
  });
}

export function apiserverParts({
  advertiseAddress,
  isBootstrap,
}: Pick<ApiserverPodOptions, 'advertiseAddress' | 'isBootstrap'>): ApiserverParts {
  const probe = (path: string) => ({ path, port: apiPort, scheme: 'HTTPS', host: advertiseAddress }) as const;
  const skeleton = podSkeleton({
    component: 'kube-apiserver',
    isBootstrap,
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    cpuRequest: '250m',
  });
  return { skeleton, tls: Object.fromEntries(tlsFlagNames.map((name) => [name, fixedFlags[name]])) };
}

const own = (file: string): string => componentFile('kube-apiserver', file);

const authentication = {
  'authorization-mode': 'Node,RBAC',
  // Who may come anonymously, and whose tokens are believed, is in this file and must not be said by a flag as well.
  'authentication-config': apiserverConfigFiles.authentication,
  'enable-bootstrap-token-auth': 'true',
  'client-ca-file': own('client-ca.crt'),
  'tls-cert-file': certificateFile('kube-apiserver'),
  'tls-private-key-file': keyFile('kube-apiserver'),
  // A token ends with its account, and when it says so: clients read a projected token again in time.
  'service-account-lookup': 'true',
  'service-account-extend-token-expiration': 'false',
  'service-account-issuer': serviceAccountIssuer,
  'service-account-key-file': own('service-account.pub'),
  'service-account-signing-key-file': own('service-account.key'),
  'requestheader-client-ca-file': own('front-proxy-ca.crt'),
  'requestheader-allowed-names': 'front-proxy-client',
  'requestheader-username-headers': 'X-Remote-User',
  'requestheader-group-headers': 'X-Remote-Group',
  'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  'proxy-client-cert-file': certificateFile('front-proxy-client'),
  'proxy-client-key-file': keyFile('front-proxy-client'),
  profiling: 'false',
} as const;

/**
 * Not AlwaysPullImages: the images of the release are in the machine and in no registry. Not EventRateLimit: it is
 * alpha, and the kubelets, which write most events, have a limit of their own.
 */
const admission = {
  'enable-admission-plugins': 'NodeRestriction,DenyServiceExternalIPs',
  'admission-control-config-file': apiserverConfigFiles.admission,
  'request-timeout': '60s',
} as const;

/** 100 MB and ten compressed files: it never fills the disk of a machine, also when its clients are many and busy. */
const audit = {
  'audit-policy-file': apiserverConfigFiles.auditPolicy,
  'audit-log-path': auditLogFile,
  'audit-log-maxsize': '100',
  'audit-log-maxbackup': '10',
  'audit-log-maxage': '30',
  'audit-log-compress': 'true',
} as const;

const storage = {
  'etcd-servers': `https://127.0.0.1:${etcdPorts.client}`,
  'etcd-cafile': own('etcd-ca.crt'),
  'etcd-certfile': certificateFile('apiserver-etcd-client'),
  'etcd-keyfile': keyFile('apiserver-etcd-client'),
  'endpoint-reconciler-type': 'lease',
  'encryption-provider-config': own(secretsEncryptionFile),
  'encryption-provider-config-automatic-reload': 'true',
} as const;

const towardsKubelets = {
  'kubelet-certificate-authority': own('kubelet-serving-ca.crt'),
  'kubelet-client-certificate': certificateFile('apiserver-kubelet-client'),
  'kubelet-client-key': keyFile('apiserver-kubelet-client'),
  'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
} as const;

const fixedFlags = {
  ...authentication,
  ...admission,
  ...audit,
  ...kubernetesTlsFlags,
  ...storage,
  ...towardsKubelets,
} as const;

const tlsFlagNames = [
  'client-ca-file',
  'tls-cert-file',
  'tls-private-key-file',
  'requestheader-client-ca-file',
  'proxy-client-cert-file',
  'proxy-client-key-file',
  'tls-min-version',
  'tls-cipher-suites',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
  'kubelet-certificate-authority',
  'kubelet-client-certificate',
  'kubelet-client-key',
] as const satisfies readonly (keyof typeof fixedFlags)[];
