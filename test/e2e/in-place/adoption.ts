// A machine that never belonged to the cluster: it boots with nothing but an SSH key, and one command makes it a worker.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { note } from '../fire/figures.ts';
import { dataUrl, writeIgnition } from '../ignition-file.ts';
import {
  type ConfigCluster,
  eventuallySeen,
  goodEnd,
  nodeSights,
  poolSight,
  withApi,
} from '../machine-config/config-lab.ts';
import { cli, inside, list, makeSshKey } from '../machine-lab.ts';
import { attemptsOf, phasesOf } from './in-place-lab.ts';

const bare = 'bare-0';

export function adoptionTopic(cluster: ConfigCluster): void {
  let address = '';
  let keyFile = '';

  beforeAll(async () => {
    const { publicKey, privateKey } = makeSshKey();
    keyFile = join(cluster.folder, 'bare.key');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const ignition = writeIgnition(join(cluster.folder, 'bare.ign'), {
      passwd: { users: [{ name: 'core', shell: '/bin/bash', sshAuthorizedKeys: [publicKey] }] },
      storage: { files: [{ path: '/etc/of-its-own', contents: { source: dataUrl('stays') } }] },
    });
    await cli('machine', 'create', '--cluster', cluster.infraId(), '--ignition', ignition, bare);
    address = (await list(cluster.infraId())).find(({ name }) => name === bare)?.address ?? '';
  });

  afterAll(async () => {
    await cli('node', 'remove', bare, '--dir', cluster.dir);
  });

  test('it becomes a worker with the configuration of its pool', async () => {
    const startMs = performance.now();
    await cli('ipb', 'adopt', bare, '--address', address, '--ssh-key', keyFile, '--dir', cluster.dir);
    note('the adoption of a bare machine', startMs);
    const seen = await eventuallySeen(cluster, { what: `that ${bare} is Done`, seconds: 30 }, async (api) => {
      const { target } = await poolSight(api, 'worker');
      const [node] = await nodeSights(api, [bare]);
      return node?.state === 'Done' ? { target, node } : undefined;
    });
    expect(seen.node).toMatchObject(goodEnd(seen.target));
    expect(await inside(cluster.infraId(), bare, 'cat /etc/of-its-own')).toBe('stays');
  });

  test('by one attempt, whose every phase is on record', async () => {
    const attempts = await withApi(cluster, (api) => attemptsOf(api, bare));
    expect(attempts.map(({ spec, status }) => [spec.isAdoption, status.phase])).toEqual([[true, 'Succeeded']]);
    expect(attempts.flatMap(phasesOf)).toEqual(expect.arrayContaining(['Applying', 'Rebooting', 'Booted', 'Joining']));
  });
}
