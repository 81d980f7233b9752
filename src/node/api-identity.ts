// The identity of an agent towards the API and etcd: a master uses a leaf that it signed itself, a worker the
// certificate of its kubelet. Both are read from files again, so that the next request uses a renewed certificate.
import { kubeletClientCertificate, kubeletKubeconfig } from '../contract/machine-paths.ts';
import type { NodeRole } from '../contract/machine-role.ts';
import { bundleFile, certificateFile, keyFile } from '../control-plane/control-plane-paths.ts';
import { connectByLeaf } from '../control-plane/machine-api-client.ts';
import type { EtcdTls } from '../etcd/client.ts';
import type { Host } from '../host/host.ts';
import { Secret } from '../host/secret.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { agentErrors } from './errors.ts';

export async function connectAs(role: NodeRole, host: Host, apiServerUrl: string): Promise<KubernetesClient> {
  if (role === 'worker') {
    // The kubeconfig is written before the certificate that it names.
    await mustExist(host, kubeletClientCertificate);
    await mustExist(host, kubeletKubeconfig);
    return connectKubernetes(host, { path: kubeletKubeconfig });
  }
  const client = await connectByLeaf(host, 'node-agent', apiServerUrl);
  if (client === undefined) throw agentErrors.NO_IDENTITY({ path: certificateFile('node-agent') });
  return client;
}

/** The identity towards etcd, as it is on the disk now. */
export async function readEtcdTls(host: Host): Promise<EtcdTls> {
  const leaf = 'etcd-membership-client';
  await mustExist(host, certificateFile(leaf));
  const [caPem, certificatePem, keyPem] = await Promise.all(
    [bundleFile('etcd-ca'), certificateFile(leaf), keyFile(leaf)].map((path) => host.files.readText(path)),
  );
  return { caPem: caPem ?? '', certificatePem: certificatePem ?? '', keyPem: new Secret(keyPem ?? '') };
}

async function mustExist(host: Host, path: string): Promise<void> {
  if ((await host.files.facts(path)) === undefined) throw agentErrors.NO_IDENTITY({ path });
}
