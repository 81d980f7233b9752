// A node whose kubelet is dead: no pod can start there, and nothing of its configuration is as it should be. One command brings
// it back over SSH, as the node that it was.
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conditionOf } from '../../../src/kubernetes/conditions.ts';
import { note } from '../fire/figures.ts';
import {
  type ConfigCluster,
  eventuallySeen,
  goodEnd,
  nodeSights,
  poolSight,
  untilRolledOut,
  withApi,
} from '../machine-config/config-lab.ts';
import { deployWeb, removeWeb } from '../machine-config/web-load.ts';
import { inside, list, makeSshKey, startCli } from '../machine-lab.ts';
import { nodeVersion } from './api-record.ts';
import { attemptsOf, goodPhases, nodeReference, phasesOf } from './in-place-lab.ts';
import { seenOfWrecks, wreck, wrecks } from './wreckage.ts';

const node = 'worker-1';
const label = 'proof.example/silent';
const taint = { key: 'proof.example/silent', value: 'yes', effect: 'PreferNoSchedule' } as const;
const keys = '/home/core/.ssh/authorized_keys';

export function silentNodeTopic(cluster: ConfigCluster): void {
  const on = (script: string): Promise<string> => inside(cluster.infraId(), node, script);
  let adopt: readonly string[] = [];

  beforeAll(async () => {
    const { publicKey, privateKey } = makeSshKey();
    const keyFile = join(cluster.folder, 'silent.key');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const address = (await list(cluster.infraId())).find(({ name }) => name === node)?.address ?? '';
    adopt = ['ipb', 'adopt', node, '--address', address, '--ssh-key', keyFile, '--dir', cluster.dir];
    // The install-config of this cluster has no key of a person, and so its machines have no user for one.
    await on(`useradd --create-home --shell /bin/bash core && install -d -o core -m 700 ${posix.dirname(keys)}`);
    await on(`echo '${publicKey}' > ${keys} && chown core ${keys} && chmod 600 ${keys}`);
    await withApi(cluster, (api) =>
      api.mergePatch(nodeReference(node), { metadata: { labels: { [label]: 'yes' } }, spec: { taints: [taint] } }),
    );
    // Some of its pods end with the machine only: their kubelet is dead when they are told to go.
    await deployWeb(cluster);
  });

  afterAll(async () => {
    await removeWeb(cluster);
    await on('userdel --remove core');
    await withApi(cluster, (api) =>
      api.mergePatch(nodeReference(node), { metadata: { labels: { [label]: null } }, spec: { taints: null } }),
    );
    await untilRolledOut(cluster, { seconds: 60 });
  });

  test('as long as its kubelet reports, it is not touched by SSH', async () => {
    const { code, stderr } = await startCli(adopt).outcome;
    expect(code).not.toBe(0);
    expect(stderr).toContain('IPB_NODE_ALIVE');
  });

  test('when its kubelet is dead it comes back over SSH, with everything mended', async () => {
    await wreck(cluster, node);
    await on('systemctl stop firstlight-agent.service kubelet.service');
    await eventuallySeen(cluster, { what: `that ${node} is silent`, seconds: 90 }, async (api) =>
      conditionOf(await api.get(nodeReference(node)), 'Ready')?.status === 'Unknown' ? true : undefined,
    );
    const startMs = performance.now();
    const { code, stderr } = await startCli(adopt).outcome;
    expect(code, stderr).toBe(0);
    note('a node with a dead kubelet, over SSH', startMs);
    expect(await seenOfWrecks(cluster, node)).toEqual(wrecks.map(({ mended }) => mended));
    const seen = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 30 }, async (api) => {
      const { target } = await poolSight(api, 'worker');
      const [sight] = await nodeSights(api, [node]);
      return sight?.state === 'Done' ? { target, sight } : undefined;
    });
    expect(seen.sight).toMatchObject(goodEnd(seen.target));
  });

  test('by an attempt as that of any node: every phase, its label and its taint', async () => {
    const [attempts, now] = await withApi(cluster, async (api) => [
      await attemptsOf(api, node),
      nodeVersion(await api.get(nodeReference(node))),
    ]);
    expect(attempts.at(-1)?.spec.isAdoption).toBe(false);
    expect(attempts.slice(-1).flatMap(phasesOf)).toEqual(goodPhases);
    expect(now.labels[label]).toBe('yes');
    expect(now.taints.filter(({ key }) => key === taint.key)).toMatchObject([taint]);
  });
}
