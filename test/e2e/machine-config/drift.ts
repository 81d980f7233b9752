// Somebody changes what a configuration has put on a machine: found within five seconds, named, and over as soon as it is as
// it was; or put back by the daemon, where the pool says so. Nothing reboots for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daemonFiles, nodeConfigAnnotations } from '../../../src/contract/machine-config-node.ts';
import { eventually, inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  eventuallySeen,
  liveFolder,
  type NodeSight,
  nodeSights,
  pause,
  poolReference,
  removeMachineConfigs,
  rollOut,
  withApi,
} from './config-lab.ts';
import { rebootsOf, watchNodes } from './node-watch.ts';

const name = '50-proof-drift';
const file = `${liveFolder}/kept.conf`;
const link = `${liveFolder}/link`;
const unit = '/etc/systemd/system/proof-tick.service';
const worker = 'worker-0';
const secondsToFind = 5;

interface Drift {
  readonly what: string;
  readonly make: string;
  readonly undo: string;
  readonly reason: string;
}

const drifts: readonly Drift[] = [
  {
    what: 'a mode',
    make: `chmod 600 ${file}`,
    undo: `chmod 644 ${file}`,
    reason: `mode mismatch for file ${file}: 0600, should be 0644`,
  },
  {
    what: 'a text',
    make: `echo secret-of-somebody > ${file}`,
    undo: `printf 'kept\\n' > ${file}`,
    reason: `content mismatch for file ${file}`,
  },
  { what: 'a file that is gone', make: `mv ${file} /run/kept`, undo: `mv /run/kept ${file}`, reason: file },
  {
    what: 'a unit',
    make: `cp ${unit} /run/unit && echo '# more' >> ${unit}`,
    undo: `cat /run/unit > ${unit}`,
    reason: 'proof-tick.service',
  },
  {
    what: 'a unit that is no longer enabled',
    make: 'systemctl disable --quiet proof-tick.service',
    undo: 'systemctl enable --quiet proof-tick.service',
    reason: 'proof-tick.service',
  },
  { what: 'a link', make: `ln -sfn /elsewhere ${link}`, undo: `ln -sfn kept.conf ${link}`, reason: link },
];

export function driftTopic(cluster: ConfigCluster): void {
  const config = (text: string, links = [{ path: link, target: 'kept.conf', overwrite: true }]) => ({
    name,
    files: [{ path: file, text }],
    storage: { links },
  });
  const on = (script: string): Promise<string> => inside(cluster.infraId(), worker, script);
  const until = (what: string, is: (node: NodeSight) => boolean): Promise<NodeSight> =>
    eventuallySeen(cluster, { what, seconds: secondsToFind }, async (api) =>
      (await nodeSights(api, [worker])).find(is),
    );
  const setPolicy = (driftPolicy: string): Promise<unknown> =>
    withApi(cluster, (api) => api.mergePatch(poolReference('worker'), { spec: { driftPolicy } }));

  beforeAll(async () => {
    await rollOut(cluster, { seconds: 30 }, () => applyMachineConfig(cluster, config('kept\n')));
  });

  afterAll(async () => {
    await setPolicy('Report');
    await rollOut(cluster, { seconds: 30 }, () => removeMachineConfigs(cluster, name));
  });

  describe('is found and over:', () => {
    test.each(drifts)('$what', async ({ make, undo, reason }) => {
      const watch = watchNodes(cluster, [worker]);
      await on(make);
      const found = await until('that the drift is found', ({ state }) => state === 'Degraded');
      expect(found.reason).toContain(reason);
      expect(found.reason).not.toContain('secret-of-somebody');
      await on(undo);
      await until('that the drift is over', ({ state }) => state === 'Done');
      const story = await watch.end();
      expect([rebootsOf(story, worker), story.disturbed]).toEqual([0, []]);
    });
  });

  test('a change is refused while a machine has drifted, and done when a person insists', async () => {
    await on(`chmod 600 ${file}`);
    await until('that the drift is found', ({ state }) => state === 'Degraded');
    await rollOut(cluster, { seconds: 30 }, async () => {
      await applyMachineConfig(cluster, config('newer\n'));
      await pause(3_000);
      expect(await on(`cat ${file}; stat -c %a ${file}`)).toBe('kept\n600\n');
      await on(`touch ${daemonFiles.force}`);
    });
    expect(await on(`cat ${file}; stat -c %a ${file}`)).toBe('newer\n644\n');
    expect(await on(`ls ${daemonFiles.force} 2>/dev/null || echo consumed`)).toBe('consumed\n');
  });

  test('with driftPolicy Revert the daemon puts it back by itself', async () => {
    await setPolicy('Revert');
    // The policy reaches the machine by its Node.
    await eventuallySeen(cluster, { what: 'the policy on the node', seconds: 10 }, async (api) => {
      const { metadata } = await api.get({ apiVersion: 'v1', kind: 'Node', name: worker });
      return metadata.annotations?.[nodeConfigAnnotations.driftPolicy] === 'Revert' ? true : undefined;
    });
    await on(`echo other > ${file}; chmod 640 ${file}`);
    await eventually('that the file is as it was', secondsToFind, async () =>
      (await on(`cat ${file}; stat -c %a ${file}`)) === 'newer\n644\n' ? true : undefined,
    );
    expect(await until('that the node is Done', ({ state }) => state === 'Done')).toMatchObject({ reason: '' });
  });
}
