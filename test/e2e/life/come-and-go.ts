// Machines that come and go after the bootstrap: workers, a master that is off for a while, a master without its disk.
import { expect, test } from 'vitest';
import { etcdctl } from '../fire/etcd-oracle.ts';
import { masters } from '../fire/fire-cluster.ts';
import { isLong } from '../fire/long.ts';
import { cli, eventually, inside, list, startCli } from '../machine-lab.ts';
import { untilOperatorsRest, valueAt } from '../operators/operator-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import { everybody, readyNodes } from './ready-nodes.ts';

const registry = ['-n', 'openshift-image-registry'] as const;

/** The volume with the images of the registry, and the machine that has it. */
async function registryVolume(cluster: TrustCluster): Promise<{ readonly volume: string; readonly machine: string }> {
  const volume = await valueAt(cluster, ['pvc', 'registry-images', ...registry], '.spec.volumeName');
  const where = '.spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]';
  return { volume, machine: volume === '' ? '' : await valueAt(cluster, ['pv', volume], where) };
}

export function comeAndGoTopic(cluster: TrustCluster): void {
  test('a worker added after the bootstrap machine is gone becomes Ready, with a serving certificate', async () => {
    await cli('node', 'add', 'worker-1', '--dir', cluster.dir);
    expect(await readyNodes(cluster)).toEqual([...everybody, 'worker-1']);
    await eventually('a serving certificate of worker-1', 60, async () => {
      const found = await inside(cluster.infraId(), 'worker-1', 'ls /var/lib/kubelet/pki');
      return found.includes('kubelet-server-current.pem') ? true : undefined;
    });
  });

  test('a removed worker is gone from the cluster, the inventory and the host', async () => {
    await cli('node', 'remove', 'worker-1', '--dir', cluster.dir);
    expect(await readyNodes(cluster)).toEqual(everybody);
    expect((await list(cluster.infraId())).map(({ name }) => name)).not.toContain('worker-1');
    const inventory = await trustKubectlJson<{ data: Record<string, string> }>(
      cluster,
      'get',
      'configmap',
      '-n',
      'kube-system',
      'firstlight-inventory',
    );
    expect(JSON.stringify(inventory.data)).not.toContain('worker-1');
  });

  test('the API answers while a master is off, and the master comes back', async () => {
    await cli('machine', 'stop', '--cluster', cluster.infraId(), 'master-1');
    // The load balancer needs a moment to see which machine is gone; a connection to that one may be cut meanwhile.
    for (let look = 0; look < 8; look += 1) {
      await eventually('an answer of the API', 10, async () => {
        const { code, stdout } = await startCli(['kubectl', '--dir', cluster.dir, 'get', '--raw', '/readyz']).outcome;
        return code === 0 && stdout === 'ok' ? true : undefined;
      });
    }
    await cli('machine', 'start', '--cluster', cluster.infraId(), 'master-1');
    const ready = await eventually('that master-1 is Ready again', 180, async () => {
      const names = await readyNodes(cluster).catch((): readonly string[] => []);
      return names.includes('master-1') ? names : undefined;
    });
    expect(ready).toEqual(everybody);
  });

  let lostVolume = '';

  test('a master whose disk is lost is made anew by the same road, and votes', async () => {
    const { volume, machine } = await registryVolume(cluster);
    const others = masters.filter((master) => master !== machine);
    // With the images of the registry it takes a minute more until everything is as before.
    const lost = (isLong ? masters.find((master) => master === machine) : undefined) ?? others.at(-1) ?? '';
    lostVolume = lost === machine ? volume : '';
    await cli('machine', 'destroy', '--cluster', cluster.infraId(), lost);
    await cli('node', 'add', lost, '--dir', cluster.dir);
    expect(await readyNodes(cluster)).toEqual(everybody);
    expect(JSON.parse(await cli('status', '--dir', cluster.dir, '-o', 'json'))).toMatchObject({ etcdVoters: masters });
    // Asked from outside: the container of etcd holds no key of a client.
    const members =
      (await etcdctl({ dir: cluster.dir, infraId: cluster.infraId() }, 'master-0', 'member', 'list')) ?? '';
    expect(members.split('\n').filter((line) => line.includes('started') && line.endsWith('false'))).toHaveLength(3);
  });

  test.runIf(isLong)('the registry whose images were on that disk begins anew when its claim is deleted', async () => {
    expect(lostVolume).not.toBe('');
    await trustKubectl(cluster, 'delete', 'pvc', 'registry-images', ...registry, '--wait=false');
    await trustKubectl(cluster, 'delete', 'pods', '-l', 'app=registry', ...registry, '--wait=false');
    const { volume } = await eventually('a new volume of the registry', 90, async () => {
      const now = await registryVolume(cluster);
      return now.machine === '' || now.volume === lostVolume ? undefined : now;
    });
    expect(volume).not.toBe(lostVolume);
    await untilOperatorsRest(cluster, 120);
  });
}
