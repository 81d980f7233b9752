// A disk that is full at the seventh of ten files: nothing has changed on that machine, it says where and why, and with space
// again the same change goes through by itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  eventuallySeen,
  liveFolder,
  nodeSights,
  poolSight,
  removeMachineConfigs,
  rollOut,
  untilRolledOut,
  withApi,
  workers,
} from './config-lab.ts';

const name = '50-proof-ten-files';
const small = `${liveFolder}/small`;
/** Six on the disk of the machine, the others on one of their own that is too small for the new text of the seventh. */
const paths = Array.from(
  { length: 10 },
  (_, index) => `${index < 6 ? liveFolder : small}/file-${String(index + 1).padStart(2, '0')}`,
);
const files = (text: string) =>
  paths.map((path) => ({ path, text: `${text}\n`.repeat(path.startsWith(small) ? 2_000 : 1) }));

export function fullDiskTopic(cluster: ConfigCluster): void {
  const onEach = (script: string): Promise<readonly string[]> =>
    Promise.all(workers.map((worker) => inside(cluster.infraId(), worker, script)));
  const sums = `sha256sum ${paths.join(' ')}; stat -c '%n %a %u %g' ${paths.join(' ')}; sha256sum /etc/machine-config-daemon/currentconfig; ls -A ${liveFolder} ${small}`;

  beforeAll(async () => {
    await onEach(`mkdir -p ${small} && mount -t tmpfs -o size=80k tmpfs ${small}`);
    await rollOut(cluster, { seconds: 30 }, () => applyMachineConfig(cluster, { name, files: files('old') }));
  });

  afterAll(async () => {
    await rollOut(cluster, { seconds: 30 }, () => removeMachineConfigs(cluster, name));
    await onEach(`umount ${small}; rmdir ${small}`);
  });

  test('18: ENOSPC at file 7 of 10 leaves the old state byte for byte, and is named', async () => {
    const before = await onEach(sums);
    const { target } = await withApi(cluster, (api) => poolSight(api, 'worker'));
    await applyMachineConfig(cluster, { name, files: files('a new and much longer text') });
    const victim = await eventuallySeen(cluster, { what: 'a degraded worker', seconds: 20 }, async (api) =>
      (await nodeSights(api, workers)).find(({ state }) => state === 'Degraded'),
    );
    expect(victim.reason).toContain(`${small}/file-07`);
    expect(victim.reason).toContain('no space left on the disk');
    expect(victim.current).toBe(target);
    expect(await onEach(sums)).toEqual(before);
  });

  test('with space again the change goes through', async () => {
    await onEach(`mount -o remount,size=4m ${small}`);
    await untilRolledOut(cluster, { seconds: 75 });
    expect(await onEach(`head -n 1 ${small}/file-10 ${liveFolder}/file-01 | grep -c longer`)).toEqual(['2\n', '2\n']);
  });
}
