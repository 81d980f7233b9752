// One authority, a server and a client, made by openssl for one suite.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from './servers.ts';

export interface Identities {
  readonly server: Identity;
  readonly client: Identity;
}

export function makeIdentities(): Identities {
  const folder = mkdtempSync('/tmp/flpki-');
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
    '-subj',
    '/CN=test-ca',
    '-days',
    '2',
  );
  const leaf = (name: string, extension: string): Identity => {
    writeFileSync(at('ext'), extension);
    openssl('req', '-new', ...newKey, '-keyout', at(`${name}.key`), '-out', at('csr'), '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      at('csr'),
      '-CA',
      at('ca.crt'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      at('ext'),
      '-out',
      at(`${name}.crt`),
    );
    const read = (file: string): string => readFileSync(at(file), 'utf8');
    return { cert: read(`${name}.crt`), key: read(`${name}.key`), ca: read('ca.crt') };
  };
  const made = {
    server: leaf('server', 'subjectAltName=IP:127.0.0.1\n'),
    client: leaf('kubelet', 'extendedKeyUsage=clientAuth\n'),
  };
  rmSync(folder, { recursive: true });
  return made;
}
