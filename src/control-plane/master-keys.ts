// The keys of a master: the six signers, the key of service accounts, and the keys that encrypt Secrets. /keys/master
// gives them, a config never contains them; the names are those of the files in a master's PKI folder.
import { join } from 'node:path';
import { z } from 'zod';
import { readEncryptionKeys, secretsEncryptionFile } from '../contract/secrets-encryption.ts';
import type { Files } from '../host/files.ts';
import { readCertificate } from '../pki/certificate.ts';
import { keyMatches } from '../pki/chain.ts';
import { readKeyPair } from '../pki/key.ts';
import { signerProfiles } from '../pki/profiles.ts';

const pairs = Object.keys(signerProfiles).filter((name) => name !== 'root-ca');
export const masterKeyFiles: readonly string[] = [
  ...pairs.flatMap((name) => [`${name}.crt`, `${name}.key`]),
  'service-account.key',
  'service-account.pub',
  secretsEncryptionFile,
];

/** Certificates and public keys may be read by anybody on the machine, nothing else may. */
export function modeOfKeyFile(name: string): number {
  return /\.(crt|pub)$/.test(name) ? 0o644 : 0o600;
}

/** With this header a master marks its request, so that a repeated one can be told from that of another machine. */
export const redemptionHeader = 'idempotency-key';

/** The body of the answer: file name → text. */
export const masterKeysSchema = z.object({ files: z.record(z.string(), z.string()) });

export type MasterKeys =
  | { readonly status: 'read'; readonly body: Uint8Array }
  /** A file is missing, or a key does not fit its certificate: an incomplete set is never given. */
  | { readonly status: 'waiting'; readonly missing: string };

export async function readMasterKeys(files: Files, folder: string): Promise<MasterKeys> {
  const found: Record<string, string> = {};
  for (const name of masterKeyFiles) {
    const content = await files.readIfPresent(join(folder, name));
    if (content === undefined) return { status: 'waiting', missing: `${join(folder, name)} is missing` };
    found[name] = Buffer.from(content).toString('utf8');
  }
  for (const name of pairs) {
    const reason = pairMistake(found[`${name}.crt`] ?? '', found[`${name}.key`] ?? '');
    if (reason !== undefined) return { status: 'waiting', missing: `${join(folder, name)}.crt and .key: ${reason}` };
  }
  const encryption = readEncryptionKeys(found[secretsEncryptionFile] ?? '');
  if ('mistake' in encryption) {
    return { status: 'waiting', missing: `${join(folder, secretsEncryptionFile)}: ${encryption.mistake}` };
  }
  return {
    status: 'read',
    body: Buffer.from(JSON.stringify({ files: found } satisfies z.input<typeof masterKeysSchema>)),
  };
}

/** Why a certificate and a key do not belong together; undefined when they do. */
export function pairMistake(certificatePem: string, keyPem: string): string | undefined {
  try {
    return keyMatches(readKeyPair(keyPem), readCertificate(certificatePem))
      ? undefined
      : 'the key belongs to another certificate';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
