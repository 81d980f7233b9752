// The real tools read what we made: openssl the certificates, Ignition the configs, kubectl the kubeconfigs.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAssets } from '../../src/assets/create-assets.ts';
import { targets } from '../../src/assets/targets.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { judge, oracleProgram } from './programs.ts';

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'firstlight-assets-'));
  await makeAssets(dir);
});
async function makeAssets(folder: string): Promise<void> {
  const all = Object.values(targets).flat();
  const { signal } = new AbortController();
  await createAssets({ host: realHost(), dir: folder, targets: all, purpose: 'oracle', emit: () => {}, signal });
}
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const tls = (name: string): string => join(dir, 'tls', name);
const signers = [
  'root-ca',
  'config-server-signer',
  'etcd-signer',
  'apiserver-serving-signer',
  'control-plane-client-signer',
  'kubelet-signer',
  'front-proxy-signer',
];

describe('openssl', () => {
  test.each(signers)('takes %s for a certificate authority, and only root-ca for one above another', (name) => {
    const { output } = judge('openssl', ['x509', '-in', tls(`${name}.crt`), '-noout', '-text']);
    expect(output).toContain(`CA:TRUE, pathlen:${name === 'root-ca' ? 1 : 0}\n`);
    expect(output).toMatch(new RegExp(`Subject: CN = ${name}`));
    expect(output).toMatch(/ASN1 OID: prime256v1/);
  });

  test.each([
    ['machine-config-server', 'root-ca', 'sslserver'],
    ['admin', 'control-plane-client-signer', 'sslclient'],
    ['break-glass-admin', 'control-plane-client-signer', 'sslclient'],
  ])('verifies %s against %s for %s and for nothing else', (leaf, signer, purpose) => {
    // What a server sends besides its leaf is known and not trusted.
    const sent = ['-untrusted', tls(`${leaf}.crt`), tls(`${leaf}.crt`)];
    const verify = (use: string, ca: string): number | null =>
      judge('openssl', ['verify', '-x509_strict', '-purpose', use, '-CAfile', tls(`${ca}.crt`), ...sent]).code;
    expect(verify(purpose, signer)).toBe(0);
    expect(verify(purpose === 'sslserver' ? 'sslclient' : 'sslserver', signer)).not.toBe(0);
    for (const other of signers.filter((name) => name !== signer)) expect(verify(purpose, other)).not.toBe(0);
  });

  test('finds nothing that a server or a client shows to live longer than a year', () => {
    const yearSeconds = 366 * 86_400;
    for (const leaf of ['machine-config-server', 'admin', 'break-glass-admin']) {
      expect(
        judge('openssl', ['x509', '-in', tls(`${leaf}.crt`), '-noout', '-checkend', String(yearSeconds)]).code,
      ).toBe(1);
    }
  });

  test('finds exactly the names the config server is called by', () => {
    const { output } = judge('openssl', [
      'x509',
      '-in',
      tls('machine-config-server.crt'),
      '-noout',
      '-ext',
      'subjectAltName',
    ]);
    expect(output).toContain('DNS:api-int.demo.firstlight.test, IP Address:10.99.0.1');
  });

  test('agrees that only the break-glass administrator is all-powerful', () => {
    const subject = (name: string): string =>
      judge('openssl', ['x509', '-in', tls(`${name}.crt`), '-noout', '-subject']).output;
    expect(subject('break-glass-admin')).toContain('O = system:masters');
    expect(subject('admin')).not.toContain('system:masters');
  });

  test('every key belongs to its certificate', () => {
    for (const name of readdirSync(join(dir, 'tls')).filter((file) => file.endsWith('.crt'))) {
      const fromCertificate = judge('openssl', ['x509', '-in', tls(name), '-noout', '-pubkey']).output;
      const fromKey = judge('openssl', ['pkey', '-in', tls(name.replace('.crt', '.key')), '-pubout']).output;
      expect(fromKey).toBe(fromCertificate);
    }
  });
});

describe('the real Ignition', () => {
  const configs = ['bootstrap.ign', 'master.ign', 'worker.ign'];
  test.each(configs)('validates %s without a warning', (name) => {
    const verdict = judge(oracleProgram('ignition-validate'), [join(dir, name)]);
    expect(verdict).toEqual({ code: 0, output: '' });
  });

  test('validates the configs of a cluster with every option without a warning', async () => {
    const other = mkdtempSync(join(tmpdir(), 'firstlight-all-fields-'));
    copyFileSync(new URL('../golden/all-fields.yaml', import.meta.url), join(other, 'install-config.yaml'));
    await makeAssets(other);
    for (const name of configs) {
      expect(judge(oracleProgram('ignition-validate'), [join(other, name)])).toEqual({ code: 0, output: '' });
    }
    rmSync(other, { recursive: true, force: true });
  });
});

describe('the real kubectl', () => {
  test.each([
    ['kubeconfig', 'https://api.demo.firstlight.test:6443'],
    ['kubeconfig-break-glass', 'https://api.demo.firstlight.test:6443'],
    ['kubeconfig-internal', 'https://api-int.demo.firstlight.test:6443'],
    ['kubeconfig-loopback', 'https://localhost:6443'],
    ['kubeconfig-kubelet', 'https://api-int.demo.firstlight.test:6443'],
  ])('parses %s and sees the right server', (name, server) => {
    const path = '{.clusters[0].cluster.server}{" "}{.contexts[0].name}{" "}{.current-context}';
    const verdict = judge(oracleProgram('kubectl'), [
      '--kubeconfig',
      join(dir, 'auth', name),
      'config',
      'view',
      '--raw',
      '-o',
      `jsonpath=${path}`,
    ]);
    expect(verdict.code).toBe(0);
    const [seen, context, current] = verdict.output.split(' ');
    expect(seen).toBe(server);
    expect(context).toBe(current);
  });
});

test('secrets are 0600 in 0700 folders', () => {
  for (const folder of ['tls', 'auth', '.firstlight']) expect(statSync(join(dir, folder)).mode & 0o777).toBe(0o700);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  const secret = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(dir, name);
    return statSync(path).isFile() && /PRIVATE KEY|Bearer |client-key-data/.test(readFileSync(path, 'utf8'));
  });
  expect(secret.length).toBeGreaterThan(10);
  for (const name of secret) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
});
