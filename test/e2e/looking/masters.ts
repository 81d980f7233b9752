// Looking into the masters of a cluster that stands, and what the diagnosis says when a port of etcd is blocked between
// two of them.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { addressOf } from '../fire/etcd-machines.ts';
import { masters } from '../fire/fire-cluster.ts';
import { cli, eventually, inside, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';

const nodeInImage = '/usr/local/lib/firstlight/bin/node';

async function ownImage(): Promise<string> {
  const { images } = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  return images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
}

interface Diagnosis {
  readonly reasons: readonly { readonly check: string; readonly sentence: string }[];
}

export function lookingTopic(cluster: TrustCluster): void {
  const nft = (...lines: readonly string[]): void => {
    const enter = `--net=/run/netns/firstlight.${cluster.infraId()}.master-1`;
    execFileSync('nsenter', [enter, 'nft', '-f', '-'], { input: `${lines.join('\n')}\n` });
  };
  let isBlocked = false;
  afterAll(() => {
    if (isBlocked) nft('delete table ip fault');
  });

  test('crictl and etcdctl work on a master as they are typed, and a log of a container is read by its name', async () => {
    const [containers, members, log] = await Promise.all([
      inside(cluster.infraId(), 'master-0', 'crictl ps'),
      inside(cluster.infraId(), 'master-0', 'etcdctl member list'),
      cli('machine', 'logs', '--dir', cluster.dir, 'master-0', '-c', 'etcd', '-n', '5'),
    ]);
    for (const name of ['etcd', 'kube-apiserver']) expect(containers).toMatch(new RegExp(`Running +${name} `));
    for (const master of masters) expect(members).toContain(`, started, ${master}, `);
    expect(log.trim().split('\n')).toHaveLength(5);
  });

  test('a log is followed while it grows, and the one before the last start of its container is kept', async () => {
    const image = await ownImage();
    // Ends after some seconds, and is started again by the kubelet.
    const ticks = "let n=0;setInterval(()=>{console.log('tick',n++);if(n>25)process.exit()},200)";
    const container = { name: 'ticking', image, imagePullPolicy: 'Never', command: [nodeInImage, '-e', ticks] };
    const file = join(cluster.folder, 'ticking.json');
    const metadata = { name: 'ticking', namespace: 'default' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'worker-0', containers: [container] } };
    writeFileSync(file, JSON.stringify(pod));
    await trustKubectl(cluster, 'apply', '-f', file);
    const logs = ['machine', 'logs', '--dir', cluster.dir, 'worker-0', '-c', 'ticking'];
    await eventually('the first line', 60, async () =>
      (await startCli(logs).outcome).stdout.includes('tick 0') ? true : undefined,
    );
    const following = startCli([...logs, '--follow']);
    let followed = '';
    following.child.stdout?.on('data', (chunk: Buffer) => (followed += chunk.toString('utf8')));
    const previous = await eventually('a start of the container after its end', 90, async () => {
      const { code, stdout } = await startCli([...logs, '--previous']).outcome;
      return code === 0 ? stdout : undefined;
    });
    // It was begun in the first life, and has all of it.
    await eventually('the whole first life in the followed log', 20, async () =>
      followed.includes(previous) ? true : undefined,
    );
    following.child.kill('SIGTERM');
    await following.outcome;
    await trustKubectl(cluster, 'delete', 'pod', 'ticking', '--wait=false');
    expect(previous.trim().split('\n')).toEqual(Array.from({ length: 26 }, (_, index) => `tick ${index}`));
  });

  test('a port of etcd that is blocked between two masters is found and named', async () => {
    // Only new connections are dropped: those of the members stay, and the cluster does not suffer.
    isBlocked = true;
    nft(
      'add table ip fault',
      'add chain ip fault input { type filter hook input priority 0 ; }',
      `add rule ip fault input ip saddr ${addressOf(cluster.dir, 'master-0')} tcp dport 2380 tcp flags syn drop`,
    );
    const { code, stdout } = await startCli(['diagnose', '--dir', cluster.dir, '-o', 'json']).outcome;
    nft('delete table ip fault');
    isBlocked = false;
    const { reasons } = JSON.parse(stdout) as Diagnosis;
    const found = reasons.filter(({ check }) => check === 'etcd-port-closed').map(({ sentence }) => sentence);
    expect([code, found]).toEqual([
      4,
      ['port 2380 (etcd, between its members) is closed between master-0 and master-1'],
    ]);
  });
}
