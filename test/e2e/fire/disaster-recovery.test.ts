// The whole of a disaster: a backup, later writes, all masters destroyed, a restore that is killed on its way. What the
// backup had is there again, what came later is gone, and the worker and its pods went on meanwhile.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli, eventually, list, startCli } from '../machine-lab.ts';
import { listMembers, voterNames } from './etcd-oracle.ts';
import { note, printFigures } from './figures.ts';
import { everybody, FireCluster, masters, readyNodes } from './fire-cluster.ts';
import { isLong } from './long.ts';

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly spec: { readonly nodeName: string };
    readonly status: { readonly containerStatuses: readonly { readonly containerID: string }[] };
  }[];
}

/** Two pods that do nothing, on the worker. */
async function deployment(): Promise<object> {
  const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  const image = release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
  const labels = { app: 'lasting' };
  const command = ['/usr/local/lib/firstlight/bin/node', '-e', 'setInterval(() => {}, 1000)'];
  const container = { name: 'lasting', image, imagePullPolicy: 'Never', command };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'lasting' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeSelector: { 'kubernetes.io/hostname': 'worker-0' }, containers: [container] },
      },
    },
  };
}

describe.runIf(isLong)('a cluster whose masters are all lost', () => {
  test('comes back from its backup, also when the command is killed on its way', async () => {
    await using cluster = new FireCluster({ name: 'disaster' });
    await cluster.finish();
    const kubectl = (...args: readonly string[]): Promise<string> => cli('kubectl', '--dir', cluster.dir, ...args);
    const pods = async (): Promise<readonly string[]> => {
      const { items } = JSON.parse(await kubectl('get', 'pods', '-l', 'app=lasting', '-o', 'json')) as PodList;
      return items
        .map(({ metadata, spec, status }) =>
          [
            metadata.name,
            metadata.uid,
            spec.nodeName,
            ...status.containerStatuses.map((each) => each.containerID),
          ].join(),
        )
        .sort();
    };
    const manifest = join(cluster.folder, 'lasting.json');
    writeFileSync(manifest, JSON.stringify(await deployment()));
    await kubectl('apply', '-f', manifest);
    await kubectl('rollout', 'status', 'deployment/lasting', '--timeout=180s');
    await kubectl('create', 'configmap', 'before', '--from-literal=word=kept');
    await kubectl('create', 'secret', 'generic', 'hidden', '--from-literal=word=open-sesame');
    const had = await pods();
    const backupMs = performance.now();
    const backup = join(cluster.folder, 'backup.tar.gz');
    await cli('backup', '--dir', cluster.dir, '--to', backup);
    note('a backup', backupMs);
    await kubectl('create', 'configmap', 'later', '--from-literal=word=lost');
    await kubectl('patch', 'configmap', 'before', '--patch', '{"data":{"word":"changed"}}');
    // A worker that the backup does not know.
    await cli('node', 'add', 'worker-1', '--dir', cluster.dir);
    const lostIds = (await listMembers(cluster))?.map(({ id }) => id) ?? [];

    await cli('machine', 'destroy', '--cluster', cluster.infraId, ...masters);
    const restoreMs = performance.now();
    const restore = ['restore', '--from', backup, '--dir', cluster.dir, '-o', 'json'];
    for (const seconds of [4, 12, 15]) {
      const { child, outcome } = startCli(restore);
      await new Promise((done) => setTimeout(done, seconds * 1000));
      child.kill('SIGKILL');
      await outcome;
    }
    await cli(...restore);
    note('a restore, killed three times, until every node is Ready', restoreMs);

    expect(await kubectl('get', 'configmap', 'before', '-o', 'jsonpath={.data.word}')).toBe('kept');
    expect(await kubectl('get', 'secret', 'hidden', '-o', 'jsonpath={.data.word}')).toBe(
      Buffer.from('open-sesame').toString('base64'),
    );
    expect((await startCli(['kubectl', '--dir', cluster.dir, 'get', 'configmap', 'later']).outcome).code).toBe(1);
    expect(await pods()).toEqual(had);
    expect(await voterNames(cluster)).toEqual(masters);
    const ids = (await listMembers(cluster))?.map(({ id }) => id) ?? [];
    expect(ids.filter((id) => lostIds.includes(id))).toEqual([]);
    const all = [...everybody, 'worker-1'];
    expect(await readyNodes(cluster.dir)).toEqual(all);
    expect((await list(cluster.infraId)).map(({ name }) => name).sort()).toEqual(all);
    expect(JSON.parse(await cli('status', '--dir', cluster.dir, '-o', 'json'))).toMatchObject({
      api: { isReady: true },
      etcdVoters: masters,
      bootstrap: null,
    });

    // It is a cluster like any other: its controllers work, and a second restore refuses to write over it.
    await kubectl('scale', 'deployment/lasting', '--replicas=3');
    await eventually('a third pod', 120, async () => ((await pods().catch(() => [])).length === 3 ? true : undefined));
    await kubectl('rollout', 'status', 'deployment/lasting', '--timeout=120s');
    const again = await startCli(restore).outcome;
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('RECOVERY_MASTERS_LIVE') as string });
    printFigures();
  });
});
