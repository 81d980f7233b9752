// The connection of a master's own programs to the API: as its node agent, by a leaf that this machine signed itself.
// The kubeconfig names files, so that a renewed certificate is used by the next request.
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { bundleFile, certificateFile, keyFile } from './control-plane-paths.ts';

export const nodeAgentCertificate = certificateFile('node-agent');

/** Undefined while this machine has no certificate for its agent. */
export async function connectAsNodeAgent(host: Host, apiServerUrl: string): Promise<KubernetesClient | undefined> {
  if ((await host.files.facts(nodeAgentCertificate)) === undefined) return undefined;
  const text = kubeconfigText({
    cluster: 'cluster',
    server: apiServerUrl,
    caPem: { file: bundleFile('apiserver-ca') },
    user: 'node-agent',
    credential: { kind: 'files', certificate: { file: nodeAgentCertificate }, key: { file: keyFile('node-agent') } },
  });
  return connectKubernetes(host, { text });
}
