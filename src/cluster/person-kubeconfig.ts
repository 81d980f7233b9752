// A kubeconfig for a person: the key is made here and never leaves, the request is filed and approved with the rights
// of the administrator, and the controller manager signs it as it signs for kubelets. The certificate lives as long as
// was asked for and cannot be taken back before: what the person may do is bound to their groups, and that can.
import { dirname } from 'node:path';
import {
  type CertificateRequest,
  personSigner,
  readCertificateRequest,
  requestKind,
} from '../admission/certificate-request.ts';
import { adminGroup } from '../contract/cluster-objects.ts';
import { waitingFor } from '../contract/missing.ts';
import type { Host } from '../host/host.ts';
import { randomText } from '../host/random.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { accessOf, parseKubeconfig } from '../kubernetes/read-kubeconfig.ts';
import { readCertificate } from '../pki/certificate.ts';
import { generateKeyPair } from '../pki/key.ts';
import { makeSigningRequest } from '../pki/signing-request.ts';
import { waitUntil } from '../workflow/wait.ts';
import { clusterErrors } from './errors.ts';

export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
  readonly lifeSeconds: number;
}

type RequestClient = Pick<KubernetesClient, 'create' | 'find' | 'replace'>;

export interface PersonKubeconfigOptions {
  readonly host: Host;
  readonly client: RequestClient;
  /** The name of the cluster, for the context. */
  readonly clusterName: string;
  /** The administrator's; the new one leads to the same server. */
  readonly adminKubeconfig: string;
  readonly person: Person;
  /** Where the kubeconfig goes. */
  readonly file: string;
  readonly mayReplace: boolean;
  readonly signal: AbortSignal;
}

export interface PersonKubeconfig {
  readonly file: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly notAfter: Date;
  /** The CertificateSigningRequest; the API removes it after an hour. */
  readonly request: string;
}

/** Signing takes a fraction of a second; when the leader of the controller managers has just gone, half a minute. */
const signingDeadlineMs = 60_000;

/** Why nobody may be called so, or be in that group; undefined where they may. */
export function personMistake({ name, groups }: Pick<Person, 'name' | 'groups'>): string | undefined {
  if (!/^[^\p{C}\p{Z}/]{1,64}$/u.test(name))
    return `${JSON.stringify(name)} is no name: at most 64 characters, no blank, no slash`;
  const long = groups.find((group) => !/^[^\p{C}\p{Z}]{1,64}$/u.test(group));
  if (long !== undefined) return `${JSON.stringify(long)} is no group: at most 64 characters, no blank`;
  if (name.startsWith('system:') || name.startsWith('firstlight:'))
    return `the name ${name} is one of the cluster’s own`;
  if (groups.includes('system:masters')) return 'nothing can take its rights from the group system:masters';
  const own = groups.find((group) => /^(system|firstlight):/.test(group) && group !== adminGroup);
  return own === undefined ? undefined : `the group ${own} is one of the cluster’s own`;
}

/** Throws CLUSTER_PERSON_REFUSED, CLUSTER_FILE_EXISTS, CLUSTER_REQUEST_DENIED, CLUSTER_REQUEST_NOT_SIGNED. */
export async function makePersonKubeconfig(options: PersonKubeconfigOptions): Promise<PersonKubeconfig> {
  const { host, client, person, file, mayReplace, signal } = options;
  const reason = personMistake(person);
  if (reason !== undefined) throw clusterErrors.PERSON_REFUSED({ reason });
  if (!mayReplace && (await host.files.facts(file)) !== undefined) throw clusterErrors.FILE_EXISTS({ file });
  const key = generateKeyPair(host.random);
  const subject = { commonName: person.name, organizations: person.groups };
  const filed = await fileRequest(options, makeSigningRequest({ subject, dnsNames: [], ipAddresses: [] }, key));
  await approve(client, filed, { now: host.clock.now(), signal });
  const certificatePem = await signedCertificate(options, filed.metadata.name);
  const { server, ca = '' } = await accessOf(host.files, await readAdmin(options));
  const text = kubeconfigText({
    cluster: options.clusterName,
    server,
    caPem: ca,
    user: person.name,
    credential: { kind: 'certificate', certificatePem, keyPem: key.privatePem.reveal() },
  });
  await host.files.makeFolder(dirname(file), { mode: 0o700 });
  await host.files.write(file, text, { mode: 0o600 });
  const { notAfter } = readCertificate(certificatePem);
  return { file, user: person.name, groups: person.groups, notAfter, request: filed.metadata.name };
}

async function readAdmin({ host, adminKubeconfig }: PersonKubeconfigOptions) {
  return parseKubeconfig(await host.files.readText(adminKubeconfig), dirname(adminKubeconfig));
}

async function fileRequest(
  { host, client, person, signal }: PersonKubeconfigOptions,
  requestPem: string,
): Promise<CertificateRequest> {
  const suffix = randomText(host.random, 'abcdefghijklmnopqrstuvwxyz0123456789', 10);
  const filed = await client.create(
    {
      ...requestKind,
      metadata: { name: `firstlight-person-${suffix}` },
      spec: {
        request: Buffer.from(requestPem).toString('base64'),
        signerName: personSigner,
        usages: ['digital signature', 'client auth'],
        expirationSeconds: person.lifeSeconds,
      },
    },
    { signal },
  );
  return readCertificateRequest(filed);
}

async function approve(
  client: RequestClient,
  request: CertificateRequest,
  { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
): Promise<void> {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'ApprovedByAdministrator',
    message: 'firstlight kubeconfig create',
    lastUpdateTime: now.toISOString(),
  };
  const conditions = [...(request.status.conditions ?? []), condition];
  await client.replace({ ...request, status: { ...request.status, conditions } }, { subresource: 'approval', signal });
}

async function signedCertificate({ host, client, signal }: PersonKubeconfigOptions, name: string): Promise<string> {
  return waitUntil({
    clock: host.clock,
    what: `the signature of the request ${name}`,
    deadlineMs: signingDeadlineMs,
    everyMs: 200,
    signal,
    probe: async () => {
      const found = await client.find({ ...requestKind, name }, { signal });
      if (found === undefined) throw clusterErrors.REQUEST_DENIED({ request: name, reason: 'somebody removed it' });
      const { status } = readCertificateRequest(found);
      refuseDecided(name, status.conditions ?? []);
      if (status.certificate !== undefined)
        return { status: 'ready', value: Buffer.from(status.certificate, 'base64').toString('utf8') };
      return { status: 'waiting', missing: [waitingFor('kube-controller-manager', `to sign the request ${name}`)] };
    },
  });
}

interface RequestCondition {
  readonly type: string;
  readonly message?: unknown;
}

function refuseDecided(request: string, conditions: readonly RequestCondition[]): void {
  const reasonOf = (type: string): string | undefined => {
    const found = conditions.find((condition) => condition.type === type);
    return found === undefined ? undefined : typeof found.message === 'string' ? found.message : 'no reason is given';
  };
  const denied = reasonOf('Denied');
  if (denied !== undefined) throw clusterErrors.REQUEST_DENIED({ request, reason: denied });
  const failed = reasonOf('Failed');
  if (failed !== undefined) throw clusterErrors.REQUEST_NOT_SIGNED({ request, reason: failed });
}
