// Makes the certificates and passwords of operators in the cluster, renews certificates in time, and writes the
// certificate of each signer to where clients look for it. Every call looks first and writes only what differs, so it
// may be called at every pass. A certificate that somebody else has put in the place of ours (its Secret lacks our
// annotation) stays as it is.
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { randomText } from '../host/random.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject, ObjectReference } from '../kubernetes/object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { keyMatches, needsRenewal, reissueReasons } from '../pki/chain.ts';
import { type Credential, issueLeaf, issueSigner, type LeafContents } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import type { MadePassword, MadeSecrets, ServingCertificate, TrustPlace } from './made-secrets.ts';
import { fillText, type PayloadValues } from './payload-values.ts';

export interface SecretWork extends ApiCallOptions {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly client: KubernetesClient;
  readonly values: PayloadValues;
}

/** On Secrets that we make. */
const madeAnnotation = 'firstlight.io/serving-certificate';
const signerDays = 3650;
const leafDays = 365;

/** What was written, one sentence each; empty when everything was as it should be. */
export async function keepSecrets(work: SecretWork, wanted: MadeSecrets): Promise<readonly string[]> {
  const written: string[] = [];
  for (const password of wanted.passwords ?? []) await keepPassword(work, password, written);
  for (const certificate of wanted.certificates ?? []) {
    const signer = await keepSigner(work, certificate, written);
    const leaf = await keepLeaf(work, { wanted: certificate, signer }, written);
    for (const place of certificate.trustedBy) await keepTrust(work, { place, pem: signer.certificatePem }, written);
    if (leaf !== undefined) await keepReaders(work, { wanted: certificate, leaf }, written);
  }
  return written;
}

const passwordAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

async function keepPassword(work: SecretWork, wanted: MadePassword, written: string[]): Promise<void> {
  const { namespace, name, username } = wanted;
  if ((await findSecret(work, { namespace, name })) !== undefined) return;
  const password = randomText(work.host.random, passwordAlphabet, 32);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/basic-auth' };
  await work.client.create(
    { ...secret, data: { username: base64(username), password: base64(password) } },
    callOf(work),
  );
  written.push(`made the password ${namespace}/${name}`);
}

async function keepSigner(work: SecretWork, wanted: ServingCertificate, written: string[]): Promise<Credential> {
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

/** The certificate that is there now; undefined for one of somebody else. */
async function keepLeaf(
  work: SecretWork,
  { wanted, signer }: { readonly wanted: ServingCertificate; readonly signer: Credential },
  written: string[],
): Promise<string | undefined> {
  const { host, values } = work;
  const { namespace, name } = wanted;
  const found = await findSecret(work, { namespace, name });
  if (found !== undefined && found.metadata.annotations?.[madeAnnotation] === undefined) return undefined;
  const now = host.clock.now();
  const contents = leafContents(wanted, values);
  const credential = found && credentialOf(found);
  const signerBundlePem = signer.certificatePem;
  const reasons = credential ? reissueReasons(credential, { contents, signerBundlePem, now }) : ['it is not there'];
  if (reasons.length === 0) return credential?.certificatePem;
  const made = issueLeaf(contents, signer, { random: host.random, now });
  await writeSecret(work, { reference: { namespace, name }, credential: made, found });
  written.push(`made the certificate ${namespace}/${name}: ${reasons.join('; ')}`);
  return made.certificatePem;
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

function findSecret(work: SecretWork, place: SecretPlace): Promise<KubernetesObject | undefined> {
  return work.client.find({ apiVersion: 'v1', kind: 'Secret', ...place }, callOf(work));
}

async function writeSecret(work: SecretWork, { reference, credential, found }: SecretToWrite): Promise<void> {
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

async function keepTrust(work: SecretWork, { place, pem }: Trust, written: string[]): Promise<void> {
  const isWritten =
    place.kind === 'APIService'
      ? await patchIfOther(work, {
          reference: { apiVersion: 'apiregistration.k8s.io/v1', kind: place.kind, name: place.name },
          field: ['spec', 'caBundle'],
          value: base64(pem),
        })
      : await patchIfOther(work, {
          reference: { apiVersion: 'v1', kind: place.kind, namespace: place.namespace, name: place.name },
          field: ['data', place.key],
          value: pem,
        });
  if (isWritten) written.push(`wrote the signer into ${place.kind} ${place.name}`);
}

/**
 * Pods that began with an older certificate are replaced. The first certificate is older than the Deployment: it begins
 * an hour before it is made.
 */
async function keepReaders(
  work: SecretWork,
  { wanted, leaf }: { readonly wanted: ServingCertificate; readonly leaf: string },
  written: string[],
): Promise<void> {
  const { namespace, restarts } = wanted;
  if (restarts === undefined) return;
  const reference = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: restarts };
  const found = await work.client.find(reference, callOf(work));
  const { notBefore, fingerprint } = readCertificate(leaf);
  if (found === undefined || notBefore <= new Date(found.metadata.creationTimestamp ?? 0)) return;
  const field = ['spec', 'template', 'metadata', 'annotations', madeAnnotation];
  if (await patchIfOther(work, { reference, field, value: fingerprint })) written.push(`restarted ${restarts}`);
}

interface FieldToKeep {
  readonly reference: ObjectReference;
  readonly field: readonly string[];
  readonly value: string;
}

/** False also while the object is not there: the release brings it. */
async function patchIfOther(work: SecretWork, { reference, field, value }: FieldToKeep): Promise<boolean> {
  try {
    const found = await work.client.find(reference, callOf(work));
    if (found === undefined || fieldOf(found, field) === value) return false;
    const patch = field.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    await work.client.mergePatch(reference, patch as object, callOf(work));
    return true;
  } catch (error) {
    if (isError(error, kubernetesErrors.NOT_FOUND)) return false;
    throw error;
  }
}

function fieldOf(object: unknown, field: readonly string[]): unknown {
  const [key, ...rest] = field;
  if (key === undefined) return object;
  return fieldOf((object as Readonly<Record<string, unknown>> | undefined)?.[key], rest);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function callOf({ signal, deadlineMs }: SecretWork): ApiCallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(deadlineMs === undefined ? {} : { deadlineMs }) };
}
