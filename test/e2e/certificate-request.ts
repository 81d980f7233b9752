// A certificate request as a client of the API makes one: key and text by openssl, the object for kubectl.
import { execFileSync } from 'node:child_process';

/** A new key at this path, and the request that it signed, as PEM. */
export function signingRequest(keyPath: string, subject: string, ...more: readonly string[]): string {
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyPath];
  const args = ['req', '-new', ...newKey, '-subj', subject, ...more];
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
}

export interface RequestSpec {
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

export function requestObject(name: string, pem: string, spec: RequestSpec): unknown {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: Buffer.from(pem).toString('base64'), ...spec },
  };
}
