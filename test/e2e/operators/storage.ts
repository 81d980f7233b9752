// A claim of a user gets a volume without anybody making it, the volume outlives its pod, and its folder goes with the claim.
import { afterAll, expect, test } from 'vitest';
import { eventually, inside } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import { applyFile, scriptContainer, valueAt } from './operator-lab.ts';

const name = 'kept';
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
};

/** As any user; the pod must not need to be root to write to its volume. */
const anybody = { runAsUser: 4_711, runAsNonRoot: true };

async function podWith(script: string): Promise<object> {
  const container = await scriptContainer(script);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      securityContext: anybody,
      containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
  };
}

/** What it prints until its end; the pod is gone afterwards. */
async function runPod(cluster: TrustCluster, script: string): Promise<string> {
  await applyFile(cluster, 'kept', [claim, await podWith(script)]);
  await eventually('the end of the pod with the volume', 90, async () =>
    (await valueAt(cluster, ['pod', name], '.status.phase')) === 'Succeeded' ? true : undefined,
  );
  const said = await trustKubectl(cluster, 'logs', name);
  await trustKubectl(cluster, 'delete', 'pod', name, '--grace-period=1');
  return said;
}

interface Volume {
  readonly spec: {
    readonly storageClassName: string;
    readonly local?: { readonly path: string };
    readonly nodeAffinity: {
      readonly required: {
        readonly nodeSelectorTerms: readonly [
          { readonly matchExpressions: readonly [{ readonly values: readonly string[] }] },
        ];
      };
    };
  };
}

export function storageTopic(cluster: TrustCluster): void {
  let volumeName = '';
  let machine = '';
  let path = '';

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', `pod/${name}`, `pvc/${name}`, '--ignore-not-found', '--wait=false');
  });

  test('a claim that names no class is served, on the machine of its pod', async () => {
    await runPod(cluster, `require('node:fs').writeFileSync('/data/word', 'kept')`);
    volumeName = await valueAt(cluster, ['pvc', name], '.spec.volumeName');
    const { spec } = await trustKubectlJson<Volume>(cluster, 'get', 'pv', volumeName);
    machine = spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0] ?? '';
    path = spec.local?.path ?? '';
    expect(spec.storageClassName).toBe('local-path');
    expect(path).toContain(volumeName);
    expect(await inside(cluster.infraId(), machine, `cat ${path}/word; stat -c %u ${path}/word`)).toBe('kept4711\n');
    // Only root gets to the volumes of others.
    expect(await inside(cluster.infraId(), machine, `stat -c '%a %u' $(dirname ${path})`)).toBe('700 0\n');
  });

  test('a pod that is made anew reads what the one before it wrote', async () => {
    const said = await runPod(cluster, `console.log(require('node:fs').readFileSync('/data/word', 'utf8'))`);
    expect(said).toBe('kept\n');
  });

  test('without the claim the volume and its folder are gone, and no pod of the provisioner is left', async () => {
    await trustKubectl(cluster, 'delete', 'pvc', name);
    await eventually('the end of the volume', 60, async () =>
      (await valueAt(cluster, ['pv', volumeName], '.metadata.name')) === '' ? true : undefined,
    );
    expect(await inside(cluster.infraId(), machine, `ls ${path} 2>/dev/null || echo gone`)).toBe('gone\n');
    await eventually('the end of the pod that removed the folder', 30, async () =>
      (await trustKubectl(cluster, 'get', 'pods', '-n', 'kube-system', '-o', 'name')).includes(volumeName)
        ? undefined
        : true,
    );
  });
}
