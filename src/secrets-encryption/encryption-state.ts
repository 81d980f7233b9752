// The keys that encrypt Secrets, as the cluster wants them: a Secret that masters follow. It always exists while
// masters run, so neither a rotation nor a master that joins depends on a copy elsewhere.
import { encryptionSecret, rotatingToAnnotation } from '../contract/cluster-objects.ts';
import {
  type EncryptionKeys,
  encryptionConfigurationText,
  readEncryptionKeys,
  secretsEncryptionFile,
} from '../contract/secrets-encryption.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { referenceText } from '../kubernetes/object.ts';
import { secretsEncryptionErrors } from './errors.ts';

export interface EncryptionState {
  readonly keys: EncryptionKeys;
  /** Exactly what masters write to their disks. */
  readonly text: string;
  /** The name of the new key, while a rotation is not finished. */
  readonly rotatingTo: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Undefined while no master has published the keys. */
export async function findEncryptionState(
  client: KubernetesClient,
  call: ApiCallOptions = {},
): Promise<EncryptionState | undefined> {
  const found = await client.find(encryptionSecret, call);
  if (found === undefined) return undefined;
  const data = (found['data'] ?? {}) as Readonly<Record<string, string>>;
  const text = Buffer.from(data[secretsEncryptionFile] ?? '', 'base64').toString('utf8');
  const keys = readEncryptionKeys(text);
  if ('mistake' in keys) {
    throw secretsEncryptionErrors.UNREADABLE({ object: referenceText(encryptionSecret), reason: keys.mistake });
  }
  const { annotations, resourceVersion } = found.metadata;
  return { keys, text, rotatingTo: annotations?.[rotatingToAnnotation], resourceVersion };
}

/** Publishes what the masters have, unless another master was faster: before the first rotation all have the same. */
export async function publishEncryptionKeys(
  client: KubernetesClient,
  text: string,
  call: ApiCallOptions = {},
): Promise<void> {
  const { apiVersion, kind, name, namespace } = encryptionSecret;
  const data = { [secretsEncryptionFile]: Buffer.from(text).toString('base64') };
  try {
    await client.create({ apiVersion, kind, metadata: { name, namespace }, data }, call);
  } catch (error) {
    if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
  }
}

/** The API refuses it with CONFLICT if another command has changed the Secret since. */
export async function changeEncryptionState(
  client: KubernetesClient,
  { resourceVersion }: EncryptionState,
  { keys, rotatingTo, ...call }: Pick<EncryptionState, 'keys' | 'rotatingTo'> & ApiCallOptions,
): Promise<void> {
  const data = { [secretsEncryptionFile]: Buffer.from(encryptionConfigurationText(keys)).toString('base64') };
  const annotations = { [rotatingToAnnotation]: rotatingTo ?? null };
  await client.mergePatch(encryptionSecret, { metadata: { resourceVersion, annotations }, data }, call);
}
