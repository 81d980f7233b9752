// The approver and the signer of kube-controller-manager, for a control plane that has neither yet.
import { readCertificateRequest, requestKind, requestPem } from '../../src/admission/certificate-request.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { waitForObjects } from '../../src/kubernetes/watch.ts';
import { type Credential, certify } from '../../src/pki/issue.ts';
import { machineLeaf } from '../../src/pki/profiles.ts';
import { readSigningRequest } from '../../src/pki/signing-request.ts';

/** Waits for the first request and signs it for this node. */
export async function signFirstRequest(client: KubernetesClient, node: string, signer: Credential): Promise<void> {
  const host = realHost();
  const found = await waitForObjects(
    { client, host, kind: requestKind, signal: AbortSignal.timeout(30_000), what: 'a request', deadlineMs: 20_000 },
    ([first]) => (first === undefined ? { status: 'waiting', missing: [] } : { status: 'ready', value: first }),
  );
  const request = readCertificateRequest(found);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Tested', message: 'by the test' }];
  const { metadata } = await client.replace({ ...request, status: { conditions } }, { subresource: 'approval' });
  const cluster = { domain: '', serviceAddresses: [], apiVips: [] };
  const pem = certify(readSigningRequest(requestPem(request)).publicPem, {
    random: host.random,
    now: new Date(),
    contents: machineLeaf('kubelet-client', { cluster, machine: { name: node, addresses: [] } }),
    signer,
  });
  const certificate = Buffer.from(pem).toString('base64');
  await client.replace({ ...request, metadata, status: { conditions, certificate } }, { subresource: 'status' });
}
