// The last of a cluster: what its verbs say after all that was done to it, and that nothing of it stays on the host.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { masters } from '../fire/fire-cluster.ts';
import { cli, hostPicture, traces } from '../machine-lab.ts';
import type { TrustCluster } from '../trust/trust-cluster.ts';

export function clusterEndTopic(cluster: TrustCluster, before: () => ReturnType<typeof hostPicture>): void {
  test('status and wait-for agree that the cluster is complete', async () => {
    expect(await cli('wait-for', 'bootstrap-complete', '--dir', cluster.dir)).toMatch(
      /^It is now safe to remove the bootstrap resources\nTime elapsed: (\d+m)?\d+s\n$/,
    );
    expect(await cli('wait-for', 'install-complete', '--dir', cluster.dir)).toMatch(
      /^Install complete!\nTime elapsed: (\d+m)?\d+s\n$/,
    );
    expect(JSON.parse(await cli('status', '--dir', cluster.dir, '-o', 'json'))).toMatchObject({
      api: { isReady: true },
      etcdVoters: masters,
      bootstrap: null,
    });
  });

  test('kubeconfig --merge adds the cluster to what a person has', async () => {
    const mine = join(cluster.folder, 'my-kubeconfig');
    process.env['KUBECONFIG'] = mine;
    await cli('kubeconfig', '--merge', '--dir', cluster.dir);
    delete process.env['KUBECONFIG'];
    expect(parse(readFileSync(mine, 'utf8'))).toMatchObject({ 'current-context': cluster.infraId() });
  });

  test('destroy leaves no trace on the host', async () => {
    await cli('destroy', 'cluster', '--dir', cluster.dir);
    expect(traces(before(), hostPicture())).toEqual([]);
  });
}
