// Changes that need no reboot: a setting of the kernel, a unit that is restarted, a file for which a unit is reloaded. No
// pod moves for any of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { cli, inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  applyObjects,
  type ConfigCluster,
  disruptionPolicies,
  machineConfig,
  reloadedFile,
  reloadedUnit,
  rollOut,
  type TestMachineConfig,
  workers,
} from './config-lab.ts';
import { type NodeStory, rebootsOf, watchNodes } from './node-watch.ts';

const sysctl = 'net.ipv4.tcp_fin_timeout';

function kernelSetting(seconds: number): TestMachineConfig {
  return {
    name: '50-proof-sysctl',
    files: [{ path: '/etc/sysctl.d/90-proof.conf', text: `${sysctl} = ${seconds}\n` }],
  };
}

/** Each reload leaves a line behind. */
function units(word: string): TestMachineConfig {
  const service = (...lines: readonly string[]): string =>
    ['[Service]', ...lines, 'ExecStart=/bin/sleep infinity', '[Install]', 'WantedBy=multi-user.target', ''].join('\n');
  const reload = "ExecReload=/bin/sh -c 'echo reloaded >> /run/proof-reloads'";
  return {
    name: '50-proof-units',
    units: [
      { name: 'proof-tick.service', enabled: true, contents: service(`Environment=WORD=${word}`) },
      { name: reloadedUnit, enabled: true, contents: service(reload) },
    ],
  };
}

const policy = (word: string): TestMachineConfig => ({
  name: '50-proof-policy',
  files: [{ path: reloadedFile, text: JSON.stringify({ default: word }), mode: 0o600 }],
});

export function liveChangesTopic(cluster: ConfigCluster): void {
  const onEach = (script: string): Promise<readonly string[]> =>
    Promise.all(workers.map(async (worker) => (await inside(cluster.infraId(), worker, script)).trim()));

  /** Rolls a change out under the eyes of somebody who must see no node disturbed by it. */
  async function undisturbed(change: () => Promise<unknown>): Promise<void> {
    const watch = watchNodes(cluster, workers);
    let story: NodeStory | undefined;
    try {
      await rollOut(cluster, { seconds: 30 }, change);
    } finally {
      story = await watch.end();
    }
    expect(story.disturbed).toEqual([]);
    expect(workers.map((worker) => rebootsOf(story, worker))).toEqual([0, 0]);
  }

  beforeAll(async () => {
    await applyObjects(cluster, disruptionPolicies());
  });

  test('a sysctl file is in force on every worker', async () => {
    // As a person does it, who reads what will happen.
    const file = join(cluster.folder, 'sysctl.json');
    writeFileSync(file, JSON.stringify(machineConfig(kernelSetting(61))));
    const foretold = await cli('machine-config', 'apply', file, '--dry-run', '--dir', cluster.dir);
    expect(foretold).toContain('/etc/sysctl.d/90-proof.conf');
    expect(foretold).toContain('systemctl restart systemd-sysctl.service');
    await undisturbed(() => cli('machine-config', 'apply', file, '--yes', '--dir', cluster.dir));
    expect(await onEach(`sysctl -n ${sysctl}; stat -c %a /etc/sysctl.d/90-proof.conf`)).toEqual(['61\n644', '61\n644']);
  });

  test('a new unit runs, and one whose text changed runs anew', async () => {
    const shown = 'systemctl is-enabled proof-tick; systemctl show proof-tick --property=ActiveState,Environment';
    await undisturbed(() => applyMachineConfig(cluster, units('first')));
    const first = await onEach('systemctl show proof-tick --property=MainPID --value');
    expect(await onEach(shown)).toEqual(workers.map(() => 'enabled\nEnvironment=WORD=first\nActiveState=active'));
    await undisturbed(() => applyMachineConfig(cluster, units('second')));
    expect(await onEach(shown)).toEqual(workers.map(() => 'enabled\nEnvironment=WORD=second\nActiveState=active'));
    const second = await onEach('systemctl show proof-tick --property=MainPID --value');
    expect(second.filter((pid) => first.includes(pid))).toEqual([]);
  });

  test('21: a file with a policy reloads its unit, once, and the unit goes on', async () => {
    const before = await onEach(`systemctl show ${reloadedUnit} --property=MainPID --value`);
    await undisturbed(() => applyMachineConfig(cluster, policy('reject')));
    expect(await onEach(`cat /run/proof-reloads ${reloadedFile}`)).toEqual(
      workers.map(() => 'reloaded\n{"default":"reject"}'),
    );
    expect(await onEach(`systemctl show ${reloadedUnit} --property=MainPID --value`)).toEqual(before);
  });
}
