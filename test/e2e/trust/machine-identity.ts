// The identity of a machine in the hands of somebody else: the client certificate of its kubelet, taken from the machine,
// or one that an administrator was talked into. It reaches the API from the host, as any client does.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { requestObject, signingRequest } from '../certificate-request.ts';
import { eventually, inside, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubeconfig, trustKubectl } from './trust-cluster.ts';

export interface MachineIdentity {
  readonly kubeconfig: string;
  /** What kubectl printed, or what it said when it was refused. */
  readonly kubectl: (...args: readonly string[]) => Promise<{ readonly code: number | null; readonly text: string }>;
}

export async function stolenIdentity(cluster: TrustCluster, machine: string): Promise<MachineIdentity> {
  const pem = await inside(cluster.infraId(), machine, 'cat /var/lib/kubelet/pki/kubelet-client-current.pem');
  return identityOf(cluster, machine, { certificate: pem, key: pem });
}

/** A node that no inventory lists, approved by hand. */
export async function approvedIdentity(cluster: TrustCluster, node: string): Promise<MachineIdentity> {
  const keyPath = join(cluster.folder, `${node}.key`);
  const pem = signingRequest(keyPath, `/O=system:nodes/CN=system:node:${node}`);
  const name = `approved-${node}`;
  const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
  const file = join(cluster.folder, `${name}.json`);
  writeFileSync(
    file,
    JSON.stringify(requestObject(name, pem, { signerName, usages: ['digital signature', 'client auth'] })),
  );
  await trustKubectl(cluster, 'create', '-f', file);
  await trustKubectl(cluster, 'certificate', 'approve', name);
  const certificate = await eventually(`a certificate of ${node}`, 30, async () => {
    const text = await trustKubectl(cluster, 'get', 'csr', name, '-o', 'jsonpath={.status.certificate}');
    return text === '' ? undefined : Buffer.from(text, 'base64').toString('utf8');
  });
  await trustKubectl(cluster, 'delete', 'csr', name);
  return identityOf(cluster, node, { certificate, key: readFileSync(keyPath, 'utf8') });
}

function identityOf(
  cluster: TrustCluster,
  name: string,
  pair: { readonly certificate: string; readonly key: string },
): MachineIdentity {
  const admin = parse(readFileSync(trustKubeconfig(cluster), 'utf8')) as { users: readonly { name: string }[] };
  const encoded = (pem: string): string => Buffer.from(pem).toString('base64');
  const user = { 'client-certificate-data': encoded(pair.certificate), 'client-key-data': encoded(pair.key) };
  const kubeconfig = join(cluster.folder, `${name}.kubeconfig`);
  writeFileSync(kubeconfig, stringify({ ...admin, users: admin.users.map((each) => ({ name: each.name, user })) }));
  return {
    kubeconfig,
    kubectl: async (...args) => {
      const outcome = await startCli(['kubectl', '--dir', cluster.dir, '--kubeconfig', kubeconfig, ...args]).outcome;
      return { code: outcome.code, text: outcome.stdout + outcome.stderr };
    },
  };
}
