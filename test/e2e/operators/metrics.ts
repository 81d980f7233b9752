// `kubectl top` has numbers of every machine and its pods, and nobody on the way skips a check of certificates.
import { expect, test } from 'vitest';
import { everybody } from '../life/ready-nodes.ts';
import { eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import { tool, valueAt } from './operator-lab.ts';

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly spec: { readonly nodeName?: string };
  }[];
}

/** The rows, or none while there are no numbers yet. */
async function top(cluster: TrustCluster, ...what: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await startCli(['kubectl', '--dir', cluster.dir, 'top', ...what, '--no-headers']).outcome;
  return stdout.split('\n').filter((line) => line !== '');
}

export function metricsTopic(cluster: TrustCluster): void {
  test('kubectl top nodes has numbers of every machine', async () => {
    const rows = await eventually('numbers of every machine', 60, async () => {
      const found = await top(cluster, 'nodes');
      return everybody.every((node) => found.some((row) => row.startsWith(`${node} `))) ? found : undefined;
    });
    for (const row of rows) expect(row).toMatch(/^\S+ +\d+m +\d+% +[1-9]\d*Mi +\d+%/);
  });

  test('kubectl top pods has numbers of pods on every machine', async () => {
    const { items } = await trustKubectlJson<PodList>(
      cluster,
      'get',
      'pods',
      '-A',
      '--field-selector=status.phase=Running',
    );
    const nodeOf = new Map(
      items.map(({ metadata, spec }) => [`${metadata.namespace} ${metadata.name}`, spec.nodeName]),
    );
    const measuredOn = await eventually('numbers of pods on every machine', 60, async () => {
      const rows = (await top(cluster, 'pods', '-A')).map((row) => row.split(/ +/));
      const measured = rows.filter(([, , cpu = '', memory = '']) => /^\d+m$/.test(cpu) && /^[1-9]\d*Mi$/.test(memory));
      const nodes = new Set(measured.map(([namespace, pod]) => nodeOf.get(`${namespace} ${pod}`)));
      return everybody.every((node) => nodes.has(node)) ? nodes : undefined;
    });
    expect([...measuredOn]).toEqual(expect.arrayContaining([...everybody]));
  });

  test('kube-apiserver knows the server of the numbers by its signer, and that one verifies kubelets', async () => {
    const apiService = ['apiservice', 'v1beta1.metrics.k8s.io'] as const;
    expect(await valueAt(cluster, apiService, '.spec.insecureSkipTLSVerify')).toMatch(/^(false)?$/);
    const bundle = await valueAt(cluster, apiService, '.spec.caBundle');
    const served = await valueAt(cluster, ['secret', 'metrics-server-tls', '-n', 'kube-system'], '.data.tls\\.crt');
    const script = 'openssl verify -purpose sslserver -CAfile <(base64 -d <<< "$0") <(base64 -d <<< "$1")';
    expect((await tool('bash', '-c', script, bundle, served)).stdout).toMatch(/: OK\n$/);
    const flags = await trustKubectl(cluster, 'get', 'deployment', 'metrics-server', '-n', 'kube-system', '-o', 'yaml');
    expect(flags).toContain('--kubelet-certificate-authority=');
    expect(flags).not.toContain('insecure');
  });
}
