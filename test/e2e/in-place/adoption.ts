// A machine that never belonged to the cluster: it boots with nothing but an SSH key, and one command makes it a worker.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { note } from '../fire/figures.ts';
import { dataUrl, writeIgnition } from '../ignition-file.ts';
import { unpackBundle } from '../log-bundle.ts';
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

interface GatheredBySsh {
  readonly bundle: string;
  readonly machines: readonly { readonly look: string }[];
  readonly missed: readonly unknown[];
}

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

  test('it is gathered from by SSH, and not where its host key is another one', async () => {
    const knownHosts = join(cluster.dir, '.firstlight/known_hosts');
    const gather = async (): Promise<{ readonly look: string | undefined; readonly missed: string }> => {
      const access = ['--worker', address, '--ssh-key', keyFile, '--timeout', '60'];
      const said = await cli('gather', ...access, '--dir', cluster.dir, '-o', 'json');
      const { bundle, machines, missed } = JSON.parse(said) as GatheredBySsh;
      const journal = unpackBundle(bundle, cluster.folder).get(`workers/${address}/journals/journal.log`);
      rmSync(bundle);
      if (journal !== undefined) expect(journal).toContain(`${bare} systemd`);
      return { look: machines[0]?.look, missed: JSON.stringify(missed) };
    };
    expect(await gather()).toMatchObject({ look: 'inside' });
    const learned = readFileSync(knownHosts, 'utf8');
    const other = makeSshKey().publicKey.split(' ').slice(0, 2).join(' ');
    writeFileSync(knownHosts, `${address} ${other}\n`);
    const { look, missed } = await gather();
    writeFileSync(knownHosts, learned);
    expect(look).toBe('not at all');
    expect(missed).toContain('Host key verification failed');
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
