// The keys with which kube-apiserver encrypts Secrets in etcd, in kube-apiserver's own format. The same text lies in
// the asset folder, on every master and in a Secret of the cluster, so two copies agree exactly when their digests do.
// The first key encrypts, every key of the list decrypts.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Random } from '../host/random.ts';

/** Beside the signers: in `tls/` of the asset folder, and in the folder of a master's keys. */
export const secretsEncryptionFile = 'secrets-encryption.json';

const namePattern = /^key-(\d{4})(\d{2})(\d{2})t(\d{2})(\d{2})(\d{2})z$/;

/** 32 bytes as base64. */
const secretPattern = /^[A-Za-z0-9+/]{43}=$/;

const encryptionKey = z.strictObject({
  name: z.string().regex(namePattern),
  secret: z.string().regex(secretPattern),
});
export type EncryptionKey = Readonly<z.output<typeof encryptionKey>>;
export type EncryptionKeys = readonly [EncryptionKey, ...EncryptionKey[]];

const keyList = z
  .tuple([encryptionKey], encryptionKey)
  .refine((keys) => new Set(keys.map(({ name }) => name)).size === keys.length, 'two keys have the same name');

/** Only what Firstlight itself writes: kube-apiserver understands more, the rotation of keys does not. */
export const encryptionConfigurationSchema = z
  .strictObject({
    apiVersion: z.literal('apiserver.config.k8s.io/v1'),
    kind: z.literal('EncryptionConfiguration'),
    resources: z.tuple([
      z.strictObject({
        resources: z.tuple([z.literal('secrets')]),
        providers: z.tuple([
          z.strictObject({ secretbox: z.strictObject({ keys: keyList }) }),
          z.strictObject({ identity: z.strictObject({}) }),
        ]),
      }),
    ]),
  })
  .transform(({ resources: [{ providers }] }): EncryptionKeys => providers[0].secretbox.keys);

/**
 * secretbox and not AES-GCM: its nonces are long enough to be random for any number of writes. With AES-GCM a key must
 * be replaced after some 200,000 writes. `identity` comes last: it only reads a Secret that was never encrypted.
 */
export function encryptionConfigurationText(keys: EncryptionKeys): string {
  const configuration: z.input<typeof encryptionConfigurationSchema> = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys: [...keys] } }, { identity: {} }] }],
  };
  return `${JSON.stringify(configuration, null, 2)}\n`;
}

/** What is wrong with the text, or its keys. */
export function readEncryptionKeys(text: string): EncryptionKeys | { readonly mistake: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { mistake: 'it is not JSON' };
  }
  const read = encryptionConfigurationSchema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return { mistake: `it is no list of encryption keys (${issue?.path.join('.')}: ${issue?.message})` };
}

/** The name says when the key was made. It stands in etcd before every value that the key has encrypted. */
export function newEncryptionKey(random: Random, now: Date): EncryptionKey {
  const moment = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase();
  return { name: `key-${moment}z`, secret: Buffer.from(random.bytes(32)).toString('base64') };
}

export function madeAt({ name }: Pick<EncryptionKey, 'name'>): Date {
  return new Date(name.replace(namePattern, '$1-$2-$3T$4:$5:$6Z'));
}

/** As kube-apiserver names the file that it has loaded. */
export function encryptionDigest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const loadedFile = /^apiserver_encryption_config_controller_last_config_info\{(?:[^}]*,)?hash="([^"]+)"/m;

/** The digest of the file that a kube-apiserver has loaded, from its metrics; undefined if it encrypts nothing. */
export function loadedEncryptionDigest(metrics: string): string | undefined {
  return loadedFile.exec(metrics)?.[1];
}
