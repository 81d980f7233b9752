// `firstlight audit` on a real cluster: nothing fails when it is fresh, five weaknesses that somebody makes on purpose are
// found, and no others; undone, nothing fails again. The last topic: what another one left behind would show here.
import { expect, test } from 'vitest';
import { eventually, inside, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from './trust-cluster.ts';

interface AuditedControl {
  readonly id: string;
  readonly result: string;
  readonly reason?: string;
  readonly findings?: readonly { readonly where: string; readonly seen: string }[];
}

interface Audit {
  readonly code: number | null;
  /** The controls that fail or could not be looked at. */
  readonly failures: readonly AuditedControl[];
  readonly total: number;
}

async function audit(cluster: TrustCluster): Promise<Audit> {
  const { code, stdout, stderr } = await startCli(['audit', '--dir', cluster.dir, '-o', 'json']).outcome;
  if (code !== 0 && code !== 9) throw new Error(`firstlight audit ended with ${code}\n${stderr}`);
  const { controls } = JSON.parse(stdout) as { controls: readonly AuditedControl[] };
  const failures = controls.filter(({ result }) => result === 'fail' || result === 'unknown');
  return { code, failures, total: controls.length };
}

interface Weakness {
  readonly what: string;
  /** The one control that must fail, and where. */
  readonly id: string;
  readonly where: string;
  readonly make: (cluster: TrustCluster) => Promise<unknown>;
  readonly undo: (cluster: TrustCluster) => Promise<unknown>;
}

const schedulerPod = '/etc/kubernetes/manifests/kube-scheduler-pod.yaml';
const readOnlyPort = '/run/firstlight/kubelet.conf.d/weak.conf';
const readOnlyPortText =
  'apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\nreadOnlyPort: 10255\\n';

/** The first key that only root may read, wherever masters have it. */
const someKey = "$(grep -rl 'PRIVATE KEY' /etc/kubernetes/pki | sort | head -n 1)";

const on = (machine: string, script: string) => (cluster: TrustCluster) => inside(cluster.infraId(), machine, script);
const kubectl =
  (...args: readonly string[]) =>
  (cluster: TrustCluster) =>
    trustKubectl(cluster, ...args);

/** In the order of the benchmark. */
const weaknesses: readonly Weakness[] = [
  {
    what: 'a static pod that everybody may write',
    id: '1.1.5',
    where: 'master-1',
    make: on('master-1', `chmod 666 ${schedulerPod}`),
    undo: on('master-1', `chmod 600 ${schedulerPod}`),
  },
  {
    what: 'a key of a master that everybody may read',
    id: '1.1.21',
    where: 'master-0',
    make: on('master-0', `chmod 644 ${someKey}`),
    undo: on('master-0', `chmod 600 ${someKey}`),
  },
  {
    what: 'a kubelet with its read-only port open',
    id: '4.2.4',
    where: 'worker-0',
    make: on('worker-0', `umask 077; printf '${readOnlyPortText}' > ${readOnlyPort} && systemctl restart kubelet`),
    undo: on('worker-0', `rm ${readOnlyPort} && systemctl restart kubelet`),
  },
  {
    what: 'everybody with a name is an administrator',
    id: '5.1.1',
    where: 'ClusterRoleBinding weak',
    make: kubectl(
      'create',
      'clusterrolebinding',
      'weak',
      '--clusterrole=cluster-admin',
      '--group=system:authenticated',
    ),
    undo: kubectl('delete', 'clusterrolebinding', 'weak'),
  },
  {
    what: 'a namespace that lets in any pod',
    id: '5.2.1',
    where: 'Namespace weak',
    make: async (cluster) => {
      await trustKubectl(cluster, 'create', 'namespace', 'weak');
      await trustKubectl(cluster, 'label', 'namespace', 'weak', 'pod-security.kubernetes.io/enforce=privileged');
    },
    undo: kubectl('delete', 'namespace', 'weak', '--wait=true'),
  },
];

/** A row of a pod that the release brings. */
const ofRelease = /^(kube-system|openshift-cluster-version|openshift-image-registry|openshift-ingress) /;

export function auditTopic(cluster: TrustCluster): void {
  test('a fresh cluster has no failure', async () => {
    // What other topics deleted may still be on its way out.
    await eventually('the end of all pods of users', 60, async () => {
      const pods = await trustKubectl(cluster, 'get', 'pods', '--all-namespaces', '--no-headers');
      return pods.split('\n').every((line) => line === '' || ofRelease.test(line)) ? true : undefined;
    });
    const { code, failures, total } = await audit(cluster);
    expect(failures).toEqual([]);
    expect(code).toBe(0);
    expect(total).toBeGreaterThan(130);
  });

  test('five weaknesses show as exactly those five; undone, nothing fails', async () => {
    const weak = await auditWeakened(cluster);
    expect(weak.failures.map(({ id, findings = [] }) => [id, findings.map(({ where }) => where)])).toEqual(
      weaknesses.map(({ id, where }) => [id, [where]]),
    );
    expect(weak.code).toBe(9);
    expect((await auditAll(cluster)).failures).toEqual([]);
  });
}

async function auditWeakened(cluster: TrustCluster): Promise<Audit> {
  try {
    await Promise.all(weaknesses.map(({ make }) => make(cluster)));
    return await auditAll(cluster);
  } finally {
    await Promise.all(weaknesses.map(({ undo }) => undo(cluster)));
  }
}

/** A kubelet that was restarted needs a moment until it serves again. */
async function auditAll(cluster: TrustCluster): Promise<Audit> {
  await eventually('an answer of the kubelet of worker-0', 60, async () => {
    const path = '/api/v1/nodes/worker-0/proxy/healthz';
    const { code, stdout } = await startCli(['kubectl', '--dir', cluster.dir, 'get', '--raw', path]).outcome;
    return code === 0 && stdout.trim() === 'ok' ? true : undefined;
  });
  return audit(cluster);
}
