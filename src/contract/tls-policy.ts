// How the servers of Kubernetes and etcd are told which TLS they may speak: version 1.3, or 1.2 with the suites that
// the config server accepts too.
import { tlsSuites } from '../host/tls-suites.ts';

export const goCipherSuites: readonly string[] = tlsSuites.map(({ name }) => name);
export const kubernetesTlsMinimum = 'VersionTLS12';

/** For the command line of a component of Kubernetes; the kubelet has the same in its configuration. */
export const kubernetesTlsFlags = {
  'tls-min-version': kubernetesTlsMinimum,
  'tls-cipher-suites': goCipherSuites.join(','),
} as const;
