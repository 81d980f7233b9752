// Kubelet certificates that end soon: asked for as the kubelet asks, only for ten minutes, and put in the place of its own.
// The kubelet itself replaces them when most of their time is over, as it would after months.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestObject, signingRequest } from '../certificate-request.ts';
import { cli, eventually, inside } from '../machine-lab.ts';
import { addressOf } from './etcd-machines.ts';

/** The shortest life that the API accepts. */
const lifeSeconds = 600;
const folder = '/var/lib/kubelet/pki';

const kinds = [
  { name: 'client', signer: 'kubernetes.io/kube-apiserver-client-kubelet', usage: 'client auth' },
  { name: 'server', signer: 'kubernetes.io/kubelet-serving', usage: 'server auth' },
] as const;

export interface KubeletPlace {
  readonly dir: string;
  readonly infraId: string;
  readonly machine: string;
}

/** `client` and `server` → the certificate that the kubelet uses now. */
export async function kubeletCertificates({
  infraId,
  machine,
}: KubeletPlace): Promise<ReadonlyMap<string, X509Certificate>> {
  const read = async (name: string): Promise<X509Certificate> =>
    new X509Certificate(await inside(infraId, machine, `cat ${folder}/kubelet-${name}-current.pem`));
  return new Map(await Promise.all(kinds.map(async ({ name }) => [name, await read(name)] as const)));
}

/** Both certificates of the kubelet live ten minutes from now on. */
export async function shortenKubeletCertificates(place: KubeletPlace): Promise<void> {
  for (const kind of kinds) await replaceOne(place, kind);
  await inside(place.infraId, place.machine, 'systemctl restart kubelet');
}

async function replaceOne({ dir, infraId, machine }: KubeletPlace, kind: (typeof kinds)[number]): Promise<void> {
  const here = mkdtempSync(join(tmpdir(), 'firstlight-kubelet-'));
  const file = (name: string): string => join(here, name);
  try {
    const names =
      kind.name === 'server' ? ['-addext', `subjectAltName=DNS:${machine},IP:${addressOf(dir, machine)}`] : [];
    const csr = signingRequest(file('key'), `/O=system:nodes/CN=system:node:${machine}`, ...names);
    const request = `short-${kind.name}-${machine}`;
    const spec = {
      signerName: kind.signer,
      usages: ['digital signature', kind.usage],
      expirationSeconds: lifeSeconds,
    };
    writeFileSync(file('request.json'), JSON.stringify(requestObject(request, csr, spec)));
    const asNode = [`--as=system:node:${machine}`, '--as-group=system:nodes', '--as-group=system:authenticated'];
    await cli('kubectl', '--dir', dir, ...asNode, 'create', '-f', file('request.json'));
    const pem = await eventually(`that ${request} is signed`, 60, async () => {
      const text = await cli('kubectl', '--dir', dir, 'get', 'csr', request, '-o', 'jsonpath={.status.certificate}');
      return text === '' ? undefined : Buffer.from(text, 'base64').toString('utf8');
    });
    const both = Buffer.from(`${pem}${readFileSync(file('key'), 'utf8')}`).toString('base64');
    const path = `${folder}/kubelet-${kind.name}-short.pem`;
    const put = `umask 077 && echo ${both} | base64 -d > ${path} && ln -sf ${path} ${folder}/kubelet-${kind.name}-current.pem`;
    await inside(infraId, machine, put);
  } finally {
    rmSync(here, { recursive: true, force: true });
  }
}
