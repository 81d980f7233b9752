// The first certificate of a node, asked for on the machine itself. A kubelet that renews its certificate makes a key
// for each request and has it in memory only until the answer comes: one that is killed in between asks with another
// key, and a single-use token is good for one. So the key is on the disk before the request is sent, the request is
// named after the key, and the kubelet starts with the certificate. Killed anywhere, this asks for the same again.
import { dirname, join } from 'node:path';
import { bootstrapKubeconfig, kubeletClientCertificate, kubeletKubeconfig } from '../contract/machine-paths.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { accessOf, parseKubeconfig } from '../kubernetes/read-kubeconfig.ts';
import { watchObjects } from '../kubernetes/watch.ts';
import { readCertificate } from '../pki/certificate.ts';
import { keyMatches } from '../pki/chain.ts';
import { generateKeyPair, type KeyPair, publicKeyDigest, readKeyPair } from '../pki/key.ts';
import { makeSigningRequest } from '../pki/signing-request.ts';
import {
  type CertificateRequest,
  kubeletClientSigner,
  readCertificateRequest,
  requestKind,
} from './certificate-request.ts';

const folder = dirname(kubeletClientCertificate);
/** Present until the certificate is there. A kubelet that does not renew its certificate names it so, too. */
const keyPath = join(folder, 'kubelet-client.key.tmp');

/** Without these a machine asks for an identity of its own, as a new one does. */
export const identityFiles: readonly string[] = [kubeletClientCertificate, kubeletKubeconfig, keyPath];

export interface AskedIdentity {
  /** What the kubelet still waits for. Undefined: it can start. */
  readonly missing?: Missing;
  /** The request that was sent and has no certificate yet. */
  readonly request?: string;
}

/** Asks for the certificate unless it was asked for, and stores it when it is signed. */
export async function askForIdentity(
  host: Host,
  client: KubernetesClient,
  options: ApiCallOptions & { readonly nodeName: string },
): Promise<AskedIdentity> {
  const { nodeName, ...call } = options;
  const key = await keptKey(host);
  const name = `kubelet-${publicKeyDigest(key.publicPem).slice(0, 32)}`;
  const request = await keptRequest(client, { name, nodeName, key }, call);
  const { certificate, conditions } = request.status;
  if (certificate !== undefined) return storeIdentity(host, { name, key, certificate });
  const refusal = conditions?.find(({ type }) => type !== 'Approved');
  const missing = refusal === undefined ? waitingFor('the certificate of this node', 'to be signed') : refused(name);
  return { missing, request: name };
}

function refused(name: string): Missing {
  return waitingFor(`a certificate of this node: the request ${name} was refused`);
}

/** Whether the kubelet can start. What is left of the request is removed. */
export async function hasIdentity({ files }: Pick<Host, 'files'>): Promise<boolean> {
  if ((await files.facts(kubeletClientCertificate)) === undefined) return false;
  await files.remove(keyPath);
  return true;
}

/** Why the API does not answer to a token yet; undefined when it is no such reason. */
export function joinObstacle(error: unknown, apiServerUrl: string): Missing | undefined {
  if (isError(error, kubernetesErrors.UNAUTHORIZED)) return waitingFor('the API', 'to know the token of this machine');
  if (isError(error, kubernetesErrors.FORBIDDEN)) {
    return waitingFor('leave to ask the API for the certificate of a node');
  }
  if (!isError(error, kubernetesErrors.UNREACHABLE)) return undefined;
  return waitingFor(`the API at ${apiServerUrl}`, '', { detail: error.details.reason });
}

/** Resolves when the request has its certificate. */
export async function untilSigned(
  host: Host,
  client: KubernetesClient,
  { request, signal }: { readonly request: string; readonly signal: AbortSignal },
): Promise<void> {
  const selection = { fieldSelector: `metadata.name=${request}` };
  for await (const [found] of watchObjects({ client, host, kind: requestKind, selection, signal })) {
    if (found !== undefined && readCertificateRequest(found).status.certificate !== undefined) return;
  }
}

async function keptKey({ files, random }: Host): Promise<KeyPair> {
  const present = await files.readIfPresent(keyPath);
  if (present !== undefined) return readKeyPair(Buffer.from(present).toString('utf8'));
  const key = generateKeyPair(random);
  await files.makeFolder(folder, { mode: 0o755 });
  await files.write(keyPath, key.privatePem.reveal(), { mode: 0o600 });
  return key;
}

interface WantedRequest {
  readonly name: string;
  readonly nodeName: string;
  readonly key: KeyPair;
}

async function keptRequest(
  client: KubernetesClient,
  { name, nodeName, key }: WantedRequest,
  call: ApiCallOptions,
): Promise<CertificateRequest> {
  const found = await client.find({ ...requestKind, name }, call);
  if (found !== undefined) return readCertificateRequest(found);
  const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
  const pem = makeSigningRequest({ subject, dnsNames: [], ipAddresses: [] }, key);
  const made: KubernetesObject = {
    ...requestKind,
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: kubeletClientSigner,
      usages: ['digital signature', 'client auth'],
    },
  };
  return readCertificateRequest(await client.create(made, call));
}

/** Where and as the kubelet keeps and renews it. The link comes last: when it is there, the kubelet can start. */
async function storeIdentity(
  { files, clock }: Host,
  { name, key, certificate }: { readonly name: string; readonly key: KeyPair; readonly certificate: string },
): Promise<AskedIdentity> {
  const pem = Buffer.from(certificate, 'base64').toString('utf8');
  // Whoever may create requests could have taken the name; a certificate of another key is of no use here.
  if (!keyMatches(key, readCertificate(pem))) return { missing: refused(name) };
  const moment = clock.now().toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');
  const path = join(folder, `kubelet-client-${moment}.pem`);
  await files.write(path, `${pem.trimEnd()}\n${key.privatePem.reveal()}`, { mode: 0o600 });
  const bootstrap = parseKubeconfig(await files.readText(bootstrapKubeconfig), dirname(bootstrapKubeconfig));
  const { server, ca = '' } = await accessOf(files, bootstrap);
  const pair = { file: kubeletClientCertificate };
  const credential = { kind: 'files', certificate: pair, key: pair } as const;
  const text = kubeconfigText({ cluster: 'cluster', server, caPem: ca, user: 'kubelet', credential });
  await files.write(kubeletKubeconfig, text, { mode: 0o600 });
  await files.symlink(path, kubeletClientCertificate);
  await files.remove(keyPath);
  return {};
}
