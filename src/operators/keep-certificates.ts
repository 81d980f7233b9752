// Makes the certificates of servers in the cluster, renews them in time, and writes the certificate of each signer to
// where clients look for it. Every call looks first and writes only what differs, so it may be called at every pass.
// A Secret that somebody else has put in the place of ours (it lacks our annotation) stays as it is.
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject, ObjectReference } from '../kubernetes/object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { keyMatches, needsRenewal, reissueReasons } from '../pki/chain.ts';
import { type Credential, issueLeaf, issueSigner, type LeafContents } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import { fillText, type PayloadValues } from './payload-values.ts';
import type { ServingCertificate, TrustPlace } from './serving-certificate.ts';

export interface CertificateWork extends ApiCallOptions {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly client: KubernetesClient;
  readonly values: PayloadValues;
}

/** On Secrets that we make. */
const madeAnnotation = 'firstlight.io/serving-certificate';
const signerDays = 3650;
const leafDays = 365;

/** What was written, one sentence each; empty when everything was as it should be. */
export async function keepCertificate(work: CertificateWork, wanted: ServingCertificate): Promise<readonly string[]> {
  const written: string[] = [];
  const signer = await keepSigner(work, wanted, written);
  await keepLeaf(work, { wanted, signer }, written);
  for (const place of wanted.trustedBy) await keepTrust(work, { place, pem: signer.certificatePem }, written);
  return written;
}

async function keepSigner(work: CertificateWork, wanted: ServingCertificate, written: string[]): Promise<Credential> {
  const { host } = work;
  const name = `${wanted.name}-signer`;
  const found = await findSecret(work, { namespace: wanted.namespace, name });
  const now = host.clock.now();
  const credential = found && credentialOf(found);
  if (credential !== undefined && isUsableSigner(credential, now)) return credential;
  const subject = { commonName: `${wanted.namespace}/${name}`, organizations: [] };
  const made = issueSigner({ subject, validityDays: signerDays, signsFor: 'server' }, { random: host.random, now });
  await writeSecret(work, { reference: { namespace: wanted.namespace, name }, credential: made, found });
  written.push(`made the signer ${wanted.namespace}/${name}`);
  return made;
}

function isUsableSigner(credential: Credential, now: Date): boolean {
  const certificate = readCertificate(credential.certificatePem);
  return certificate.isCa && keyMatches(credential.key, certificate) && !needsRenewal(certificate, now, 0.9);
}

async function keepLeaf(
  work: CertificateWork,
  { wanted, signer }: { readonly wanted: ServingCertificate; readonly signer: Credential },
  written: string[],
): Promise<void> {
  const { host, values } = work;
  const { namespace, name } = wanted;
  const found = await findSecret(work, { namespace, name });
  if (found !== undefined && found.metadata.annotations?.[madeAnnotation] === undefined) return;
  const now = host.clock.now();
  const contents = leafContents(wanted, values);
  const credential = found && credentialOf(found);
  const signerBundlePem = signer.certificatePem;
  const reasons = credential ? reissueReasons(credential, { contents, signerBundlePem, now }) : ['it is not there'];
  if (reasons.length === 0) return;
  const made = issueLeaf(contents, signer, { random: host.random, now });
  await writeSecret(work, { reference: { namespace, name }, credential: made, found });
  written.push(`made the certificate ${namespace}/${name}: ${reasons.join('; ')}`);
}

function leafContents({ namespace, name, ...wanted }: ServingCertificate, values: PayloadValues): LeafContents {
  return {
    subject: { commonName: `${namespace}/${name}`, organizations: [] },
    dnsNames: wanted.dnsNames.map((each) => fillText(each, values)),
    ipAddresses: wanted.ipAddresses ?? [],
    purpose: 'server',
    validityDays: leafDays,
  };
}

interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

interface SecretToWrite {
  readonly reference: SecretPlace;
  readonly credential: Credential;
  /** What is there now, which is exchanged only if it is still the same. */
  readonly found: KubernetesObject | undefined;
}

function findSecret(work: CertificateWork, place: SecretPlace): Promise<KubernetesObject | undefined> {
  return work.client.find({ apiVersion: 'v1', kind: 'Secret', ...place }, callOf(work));
}

async function writeSecret(work: CertificateWork, { reference, credential, found }: SecretToWrite): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const secret: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...reference,
      annotations: { [madeAnnotation]: 'made' },
      ...(found?.metadata.resourceVersion === undefined ? {} : { resourceVersion: found.metadata.resourceVersion }),
    },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': base64(credential.certificatePem),
      'tls.key': base64(credential.key.privatePem.reveal()),
    },
  };
  if (found === undefined) await work.client.create(secret, callOf(work));
  else await work.client.replace(secret, callOf(work));
}

/** Undefined for a Secret that holds no usable pair. */
function credentialOf({ data }: KubernetesObject): Credential | undefined {
  const texts = data as Readonly<Record<string, unknown>> | undefined;
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => texts?.[name]);
  if (typeof certificate !== 'string' || typeof key !== 'string') return undefined;
  const text = (value: string): string => Buffer.from(value, 'base64').toString('utf8');
  try {
    const credential = { certificatePem: text(certificate), key: readKeyPair(text(key)) };
    readCertificate(credential.certificatePem);
    return credential;
  } catch {
    return undefined;
  }
}

interface Trust {
  readonly place: TrustPlace;
  readonly pem: string;
}

async function keepTrust(work: CertificateWork, { place, pem }: Trust, written: string[]): Promise<void> {
  const isWritten =
    place.kind === 'APIService'
      ? await patchIfOther(work, {
          reference: { apiVersion: 'apiregistration.k8s.io/v1', kind: place.kind, name: place.name },
          field: ['spec', 'caBundle'],
          value: Buffer.from(pem).toString('base64'),
        })
      : await patchIfOther(work, {
          reference: { apiVersion: 'v1', kind: place.kind, namespace: place.namespace, name: place.name },
          field: ['data', place.key],
          value: pem,
        });
  if (isWritten) written.push(`wrote the signer into ${place.kind} ${place.name}`);
}

interface FieldToKeep {
  readonly reference: ObjectReference;
  readonly field: readonly [string, string];
  readonly value: string;
}

/** False also while the object is not there: the release brings it. */
async function patchIfOther(work: CertificateWork, { reference, field, value }: FieldToKeep): Promise<boolean> {
  const [part, key] = field;
  try {
    const found = await work.client.find(reference, callOf(work));
    const holder = found?.[part] as Readonly<Record<string, unknown>> | undefined;
    if (found === undefined || holder?.[key] === value) return false;
    await work.client.mergePatch(reference, { [part]: { [key]: value } }, callOf(work));
    return true;
  } catch (error) {
    if (isError(error, kubernetesErrors.NOT_FOUND)) return false;
    throw error;
  }
}

function callOf({ signal, deadlineMs }: CertificateWork): ApiCallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(deadlineMs === undefined ? {} : { deadlineMs }) };
}
