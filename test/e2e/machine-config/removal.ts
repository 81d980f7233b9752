// A MachineConfig that comes and goes leaves nothing behind: files of the operating system are as they were, everything else
// is gone, byte for byte and mode for mode.
import { expect, test } from 'vitest';
import { inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  liveFolder,
  removeMachineConfigs,
  replacedFile,
  rollOut,
  workers,
} from './config-lab.ts';

const name = '80-proof-passing';

/** Every file and link that a configuration could touch or the daemon could write, with what is in it. */
const picture = [
  `cd / && find etc var/lib/firstlight/machine-config usr/local/bin -xdev ! -type d -printf '%p %m %U %G %l\\n' | sort`,
  'find etc var/lib/firstlight/machine-config usr/local/bin -xdev -type f -exec sha256sum {} + | sort -k 2',
  'systemctl list-unit-files --no-legend --no-pager',
].join('; ');

export function removalTopic(cluster: ConfigCluster): void {
  const pictures = (): Promise<readonly string[]> =>
    Promise.all(workers.map((worker) => inside(cluster.infraId(), worker, picture)));

  test('19: what a MachineConfig replaced is restored, what it added is gone, and no stamp is left', async () => {
    const before = await pictures();
    const files = [
      { path: replacedFile, text: 'replaced\n', mode: 0o600 },
      { path: `${liveFolder}/deep/below/added.conf`, text: 'added\n' },
    ];
    const links = [{ path: `${liveFolder}/added-link`, target: replacedFile }];
    const contents = '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n';
    const dropins = [{ name: '10-proof.conf', contents: '[Service]\nNice=5\n' }];
    const units = [{ name: 'proof-passing.service', enabled: true, contents, dropins }];
    await rollOut(cluster, { seconds: 30 }, () =>
      applyMachineConfig(cluster, { name, files, units, storage: { links } }),
    );
    for (const worker of workers) {
      const there = `cat ${replacedFile} ${liveFolder}/deep/below/added.conf; readlink ${liveFolder}/added-link`;
      const nice = 'systemctl show proof-passing --property=Nice,ActiveState';
      expect(await inside(cluster.infraId(), worker, `${there}; ${nice}`)).toBe(
        `replaced\nadded\n${replacedFile}\nNice=5\nActiveState=active\n`,
      );
    }
    await rollOut(cluster, { seconds: 30 }, () => removeMachineConfigs(cluster, name));
    expect(await pictures()).toEqual(before);
    for (const worker of workers) {
      const active = 'systemctl is-active proof-passing.service || true';
      expect(await inside(cluster.infraId(), worker, active)).toBe('inactive\n');
    }
  });
}
