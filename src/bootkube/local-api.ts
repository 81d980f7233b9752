// The API of this very machine, and whether it and its etcd answer. Until the first bindings exist only system:masters
// may write, so bootkube signs itself such a certificate for an hour and keeps it in memory: it is on no disk.
import { join } from 'node:path';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { HttpClient, HttpRequest } from '../host/network.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { issueLeaf } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import type { Observation } from '../workflow/wait.ts';
import { etcdPorts, localApiUrl } from '../contract/ports.ts';
import { waitingFor } from '../contract/missing.ts';

const hourDays = 1 / 24;

/** A client of the local API with every right, for an hour. */
export async function firstClient(host: Host, pki: string): Promise<KubernetesClient> {
  const read = (name: string): Promise<string> => host.files.readText(join(pki, name));
  const signer = {
    certificatePem: await read('control-plane-client-signer.crt'),
    key: readKeyPair(await read('control-plane-client-signer.key')),
  };
  const subject = { commonName: 'bootkube', organizations: ['system:masters'] };
  const contents = { subject, dnsNames: [], ipAddresses: [], purpose: 'client', validityDays: hourDays } as const;
  const leaf = issueLeaf(contents, signer, { random: host.random, now: host.clock.now() });
  const text = kubeconfigText({
    cluster: 'local',
    server: localApiUrl,
    caPem: await read('apiserver-ca.crt'),
    user: 'bootkube',
    credential: { kind: 'certificate', certificatePem: leaf.certificatePem, keyPem: leaf.key.privatePem.reveal() },
  });
  return connectKubernetes(host, { text });
}

export interface ReadinessProbe {
  /** As people call it. */
  readonly name: string;
  readonly request: HttpRequest;
}

export async function etcdIsReady(host: Host): Promise<Observation<true>> {
  return askReadiness(host, { name: 'etcd', request: { url: `http://127.0.0.1:${etcdPorts.metrics}/readyz` } });
}

export async function apiIsReady(host: Host, url: string, ca: string): Promise<Observation<true>> {
  return askReadiness(host, { name: url, request: { url: `${url}/readyz`, ca } });
}

/** Ready when the answer is 200; else what was seen instead. */
export async function askReadiness(
  { network }: { readonly network: Pick<HttpClient, 'request'> },
  { name, request }: ReadinessProbe,
): Promise<Observation<true>> {
  try {
    const { status } = await network.request({ ...request, timeoutMs: 2_000 });
    if (status === 200) return { status: 'ready', value: true };
    return { status: 'waiting', missing: [waitingFor(name, `answers ${status}`)] };
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return { status: 'waiting', missing: [waitingFor(name, '', { detail: error.details.reason })] };
  }
}
