// How a pod reaches the API: the address is in its environment, its token and the authority of the API in files. The
// kubelet renews the token in place; connections read these files for every request.
import { podAccountFolder } from '../contract/machine-paths.ts';
import type { KubeconfigSource } from './connection.ts';
import { kubeconfigText } from './kubeconfig.ts';

/** Undefined outside of a pod. */
export function podCredentials(
  variables: Readonly<Record<string, string | undefined>>,
  user: string,
): KubeconfigSource | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = variables;
  if (!host || !port) return undefined;
  const text = kubeconfigText({
    cluster: 'own',
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caPem: { file: `${podAccountFolder}/ca.crt` },
    user,
    credential: { kind: 'token-file', token: { file: `${podAccountFolder}/token` } },
  });
  return { text };
}
