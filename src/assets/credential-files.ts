// A certificate and its key as two files of the asset folder, and back. The key is 0600 from its first byte.
import { FirstlightError } from '../errors/firstlight-error.ts';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { keyMatches } from '../pki/chain.ts';
import type { Credential } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import { type AssetFile, type FileSet, textOf } from './asset.ts';
import { assetErrors } from './errors.ts';

export interface StoredCredential extends Credential {
  readonly certificate: Certificate;
}

export function credentialPaths(name: string): readonly [string, string] {
  return [`tls/${name}.crt`, `tls/${name}.key`];
}

export function credentialFiles(name: string, credential: Credential): readonly AssetFile[] {
  const [certificate, key] = credentialPaths(name);
  return [
    { path: certificate, content: credential.certificatePem },
    { path: key, content: credential.key.privatePem.reveal(), mode: 0o600 },
  ];
}

export function readCredential(name: string, files: FileSet): StoredCredential {
  const [certificatePath, keyPath] = credentialPaths(name);
  const certificatePem = textOf(files, certificatePath);
  const certificate = inFile(certificatePath, () => readCertificate(certificatePem));
  const key = inFile(keyPath, () => readKeyPair(textOf(files, keyPath)));
  if (!keyMatches(key, certificate)) {
    throw assetErrors.UNREADABLE({ file: keyPath, reason: `it is not the key of ${certificatePath}` });
  }
  return { certificatePem, key, certificate };
}

/** Names the file in the error of its parser. */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof FirstlightError)) throw cause;
    throw assetErrors.UNREADABLE({ file, reason: cause.message }, { cause });
  }
}
