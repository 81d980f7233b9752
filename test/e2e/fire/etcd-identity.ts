// An identity towards the etcd of a cluster, made by openssl from the signer in the asset folder: it serves under the
// addresses of all members and may call them as the membership client does.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { etcdMachines } from './etcd-machines.ts';

/** Paths of the files. */
export interface EtcdIdentity {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export function etcdIdentity(dir: string): EtcdIdentity {
  const folder = join(dirname(dir), 'etcd-identity');
  const file = (name: string): string => join(folder, name);
  const ca = join(dir, 'tls/etcd-signer.crt');
  const identity = { ca, certificate: file('crt'), key: file('key') };
  if (existsSync(identity.certificate)) return identity;
  mkdirSync(folder, { recursive: true });
  const names = etcdMachines(dir).flatMap(({ name, address }) => [`DNS:${name}`, `IP:${address}`]);
  writeFileSync(file('ext'), `subjectAltName=${names.join(',')}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file('key')];
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  openssl('req', '-new', ...newKey, '-out', file('csr'), '-subj', '/CN=etcd-membership-client');
  const sign = ['-CA', ca, '-CAkey', join(dir, 'tls/etcd-signer.key'), '-set_serial', '77', '-days', '2'];
  openssl('x509', '-req', '-in', file('csr'), ...sign, '-extfile', file('ext'), '-out', file('crt'));
  return identity;
}
