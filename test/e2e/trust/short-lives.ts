// Nothing that a machine shows to others lives longer than a year, and what one master serves with no other master has.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { machineNamespace, machinePaths, namespacePath } from '../../../src/platform/local/cluster-folder.ts';
import { oracleProgram } from '../../oracle/programs.ts';
import { addressOf } from '../fire/etcd-machines.ts';
import { masters } from '../fire/fire-cluster.ts';
import type { TrustCluster } from './trust-cluster.ts';

const yearMs = 366 * 86_400_000;

interface Shown {
  /** The leaf, and what was sent with it. */
  readonly chain: readonly X509Certificate[];
  readonly said: string;
}

/** What openssl is shown by a port of a machine, asked from a worker: from there no load balancer is expected. */
function shownBy(cluster: TrustCluster, machine: string, port: number, more: readonly string[] = []): Shown {
  const enter = `--net=${namespacePath(machineNamespace(cluster.infraId(), 'worker-0'))}`;
  const asked = ['s_client', '-showcerts', '-connect', `${addressOf(cluster.dir, machine)}:${port}`, ...more];
  // It may end with a failure: etcd shows its certificate and then refuses whoever has none.
  const { stdout: said } = spawnSync('nsenter', [enter, 'openssl', ...asked], { encoding: 'utf8', input: '' });
  const pems = said.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return { chain: pems.map((pem) => new X509Certificate(pem)), said };
}

const publicKey = (certificate: X509Certificate): string =>
  certificate.publicKey.export({ type: 'spki', format: 'pem' }).toString();

const lifeMs = ({ validFrom, validTo }: X509Certificate): number => Date.parse(validTo) - Date.parse(validFrom);

interface Pair {
  readonly name: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: X509Certificate;
}

/** Every certificate with its key below /etc/kubernetes of a machine. */
function pairsOf(cluster: TrustCluster, machine: string): readonly Pair[] {
  const root = join(machinePaths(cluster.infraId(), machine).upper, 'etc/kubernetes');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const keys = files.filter((file) => file.endsWith('.key') && files.includes(file.replace(/key$/, 'crt')));
  return keys.map((file) => {
    const keyFile = join(root, file);
    const certificateFile = keyFile.replace(/key$/, 'crt');
    const name = /([^/]+)\.key$/.exec(file)?.[1] ?? '';
    return { name, keyFile, certificateFile, certificate: new X509Certificate(readFileSync(certificateFile)) };
  });
}

export function shortLivesTopic(cluster: TrustCluster): void {
  test('each master gives configurations with a key of its own, by a certificate that root-ca alone vouches for', () => {
    const { clusterName, baseDomain } = namesOf(cluster);
    const name = `api-int.${clusterName}.${baseDomain}`;
    const trust = ['-CAfile', join(cluster.dir, 'tls/root-ca.crt'), '-no-CApath', '-verify_return_error'];
    const asking = [...trust, '-servername', name, '-verify_hostname', name];
    const shown = masters.map((master) => shownBy(cluster, master, 22_623, asking));
    for (const { chain, said } of shown) {
      expect(said).toContain('Verify return code: 0 (ok)');
      expect(chain.map(({ subject }) => subject)).toEqual(['CN=machine-config-server', 'CN=config-server-signer']);
    }
    const leaves = shown.flatMap(({ chain }) => chain.slice(0, 1));
    for (const leaf of leaves) expect(lifeMs(leaf)).toBeLessThan(yearMs);
    expect(new Set(leaves.map(publicKey)).size).toBe(masters.length);
    const travelled = new X509Certificate(readFileSync(join(cluster.dir, 'tls/machine-config-server.crt')));
    expect(leaves.map(publicKey)).not.toContain(publicKey(travelled));
  });

  test('a config server signs for servers only: its signer makes no client that anybody believes', () => {
    const { said } = shownBy(cluster, 'master-0', 22_623);
    const pem = said.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)?.[1] ?? '';
    const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: pem, encoding: 'utf8' });
    expect(text).toMatch(/CA:TRUE, pathlen:0\n/);
    expect(text).toMatch(/Extended Key Usage: *\n\s+TLS Web Server Authentication\n/);
  });

  test.each([
    ['the API', 6443],
    ['etcd for its clients', 2379],
    ['etcd for its peers', 2380],
    ['the kubelet', 10_250],
    ['the config server', 22_623],
  ])('what %s shows on a master ends within a year', (_name, port) => {
    for (const master of masters) {
      const [leaf] = shownBy(cluster, master, port).chain;
      expect(leaf?.ca).toBe(false);
      expect(leaf === undefined ? Number.NaN : lifeMs(leaf)).toBeLessThan(yearMs);
    }
  });

  test('on the disk of a master nothing but signers lives longer', () => {
    for (const master of masters) {
      const long = pairsOf(cluster, master).filter(({ certificate }) => lifeMs(certificate) > yearMs);
      expect([...new Set(long.map(({ name }) => name))].sort()).toEqual([
        'apiserver-serving-signer',
        'config-server-signer',
        'control-plane-client-signer',
        'etcd-signer',
        'front-proxy-signer',
        'kubelet-signer',
      ]);
    }
  });

  test('etcd answers to the member itself, kube-apiserver and whoever changes members, and to no other pair', async () => {
    const ca = join(machinePaths(cluster.infraId(), 'master-0').upper, 'etc/kubernetes/pki/etcd-ca.crt');
    const reads = async ({ certificateFile, keyFile }: Pair): Promise<boolean> => {
      const enter = `--net=${namespacePath(machineNamespace(cluster.infraId(), 'master-0'))}`;
      const identity = [`--cacert=${ca}`, `--cert=${certificateFile}`, `--key=${keyFile}`];
      const how = ['--endpoints=https://127.0.0.1:2379', '--dial-timeout=2s', '--command-timeout=2s'];
      const get = ['get', '/registry/', '--prefix', '--keys-only', '--limit=1'];
      const asked = promisify(execFile)('nsenter', [enter, oracleProgram('etcdctl'), ...how, ...identity, ...get]);
      return asked.then(({ stdout }) => stdout.includes('/registry/')).catch(() => false);
    };
    const leaves = pairsOf(cluster, 'master-0').filter(({ certificate }) => !certificate.ca);
    const answers = await Promise.all(leaves.map(reads));
    const names = leaves.filter((_, index) => answers[index]).map(({ name }) => name);
    expect(names.sort()).toEqual(['apiserver-etcd-client', 'etcd-membership-client', 'etcd-peer', 'etcd-server']);
  });
}

function namesOf({ dir }: TrustCluster): { readonly clusterName: string; readonly baseDomain: string } {
  const text = readFileSync(join(dir, 'auth/kubeconfig-internal'), 'utf8');
  const [, clusterName = '', baseDomain = ''] = /server: https:\/\/api-int\.([^.]+)\.([^:]+):/.exec(text) ?? [];
  return { clusterName, baseDomain };
}
