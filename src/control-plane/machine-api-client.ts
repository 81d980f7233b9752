// The connections of a master's own programs to the API: each by a leaf of its own, which this machine signed itself.
// The kubeconfig names files, so that a renewed certificate is used by the next request.
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { bundleFile, certificateFile, keyFile } from './control-plane-paths.ts';

export type MachineApiIdentity = 'node-agent' | 'config-server-client';

/** Undefined while this machine has no certificate for the program. */
export async function connectByLeaf(
  host: Host,
  leaf: MachineApiIdentity,
  apiServerUrl: string,
): Promise<KubernetesClient | undefined> {
  const certificate = { file: certificateFile(leaf) };
  if ((await host.files.facts(certificate.file)) === undefined) return undefined;
  const text = kubeconfigText({
    cluster: 'cluster',
    server: apiServerUrl,
    caPem: { file: bundleFile('apiserver-ca') },
    user: leaf,
    credential: { kind: 'files', certificate, key: { file: keyFile(leaf) } },
  });
  return connectKubernetes(host, { text });
}
