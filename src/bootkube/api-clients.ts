// The two API clients of bootkube. Until the first role bindings exist, only the group system:masters may write, so
// bootkube signs a certificate of that group for one hour and keeps it in memory, never on a disk. Later it uses the
// loopback kubeconfig, whose user is an administrator by a role binding.
import { join } from 'node:path';
import { loopbackKubeconfigPath } from '../contract/asset-folder.ts';
import { localApiUrl } from '../contract/ports.ts';
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { issueLeaf } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import type { BootkubeContext } from './context.ts';

const hourDays = 1 / 24;

/** A client of the local API that has all rights for one hour. */
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

/** An administrator's client of any API server: this machine, one master, or the internal name. */
export async function clientFor({ host, folders }: BootkubeContext, server: string): Promise<KubernetesClient> {
  const text = await host.files.readText(join(folders.assets, loopbackKubeconfigPath));
  return connectKubernetes(host, { text: text.replace(/server: .*/, `server: ${server}`) });
}
