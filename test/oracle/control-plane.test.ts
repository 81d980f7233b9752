// The pods we render, run by the real programs: etcd, kube-apiserver, kube-controller-manager and kube-scheduler start
// with exactly the command lines of the pods (only folders and ports moved aside) and form a working control plane.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  encryptionDigest,
  loadedEncryptionDigest,
  secretsEncryptionFile,
} from '../../src/contract/secrets-encryption.ts';
import { ensureMachineCredentials } from '../../src/control-plane/machine-credentials.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';

const host = realHost();
let plane: ControlPlaneProcesses;

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']);
}, 120_000);

afterAll(() => plane.stop());

describe('a control plane of our pods', () => {
  test('serves the API, with every check of /readyz passing', () => {
    expect(plane.kubectl('get', '--raw', '/readyz?verbose').output).toContain('readyz check passed');
  });

  test('runs with the feature gates it was given', () => {
    const { output } = plane.kubectl('get', '--raw', '/metrics');
    expect(output).toMatch(/^kubernetes_feature_enabled\{name="ContainerStopSignals",.*\} 1$/m);
    expect(output).toMatch(/^kubernetes_feature_enabled\{name="WatchListClient",.*\} 0$/m);
  });

  test('stores Secrets encrypted, by the key list it says it has loaded', () => {
    expect(plane.kubectl('create', 'secret', 'generic', 'sealed', '--from-literal=word=in-the-clear').code).toBe(0);
    const stored = plane.etcdctl('get', '/registry/secrets/default/sealed', '--print-value-only').output;
    expect(stored).toMatch(/^k8s:enc:secretbox:v1:key-\d{8}t\d{6}z:/);
    expect(stored).not.toContain('in-the-clear');
    const digest = encryptionDigest(readFileSync(join(plane.pki, secretsEncryptionFile), 'utf8'));
    expect(loadedEncryptionDigest(plane.kubectl('get', '--raw', '/metrics').output)).toBe(digest);
  });

  test('controller-manager and scheduler each hold their Lease, with their own identity and no more', async () => {
    for (const name of ['kube-controller-manager', 'kube-scheduler']) {
      const lease = ['-n', 'kube-system', 'get', 'lease', name];
      await plane.until(
        `${name} to lead`,
        () =>
          plane.kubectl(...lease, '-o', 'jsonpath={.spec.holderIdentity}').output !== '' &&
          plane.kubectl(...lease).code === 0,
      );
    }
    const may = (user: string): string => plane.kubectl('auth', 'can-i', 'delete', 'nodes', '--as', user).output.trim();
    expect(may('system:kube-scheduler')).toContain('no');
  });

  test('controllers act: a Deployment becomes pods', async () => {
    expect(plane.kubectl('create', 'deployment', 'web', '--image=web', '--replicas=2').code).toBe(0);
    await plane.until(
      'two pods',
      () =>
        plane
          .kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')
          .output.trim()
          .split('\n')
          .filter((line) => line.startsWith('pod/')).length === 2,
    );
  });

  test('a second look makes nothing anew; a leaf near its end is made anew and only that one', async () => {
    const { folder, facts } = plane;
    const options = { host, facts, clusterName: 'demo', root: folder };
    expect(await ensureMachineCredentials(options)).toEqual([]);
    rmSync(join(folder, 'etcd/etcd-peer.crt'));
    expect((await ensureMachineCredentials(options)).map((leaf) => leaf.name)).toEqual(['etcd-peer']);
    const later = { ...host, clock: { ...host.clock, now: () => new Date(Date.now() + 300 * 86_400_000) } };
    const renewed = await ensureMachineCredentials({ ...options, host: later });
    expect(renewed.length).toBeGreaterThan(8);
    expect(renewed[0]?.because).toContain('of its life has passed');
  });
});
