// All masters are slow at once, by a limit of their CPU time, so that the load balancer's checks of them fail while no API
// server has stopped. A writer through it must not notice more than that its answers take longer.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { switchFolder } from '../../../src/platform/local/cluster-folder.ts';
import { eventually } from '../machine-lab.ts';
import { type TrustCluster, trustKubeconfig, trustKubectl } from '../trust/trust-cluster.ts';
import { startLoad } from './load-report.ts';
import { leaderOf } from './machine-processes.ts';

const masters = ['master-0', 'master-1', 'master-2'];
const periodUs = 1_000_000;
/** Of one core, for a whole master, whose processes stand still for the rest of each second. */
const quotaUs = 120_000;
/** How long it goes on after the checks of a master have failed. */
const slowMs = 3_000;
const namespace = 'slow-masters';

/** The folder of the control group that a machine is in, in the hierarchy that limits CPU time. */
function cpuGroup(cluster: string, machine: string): string {
  const lines = readFileSync(`/proc/${leaderOf(cluster, machine)}/cgroup`, 'utf8')
    .trim()
    .split('\n');
  for (const line of lines) {
    const [, controllers = '', path = ''] = line.split(':');
    const mount = controllers === '' ? '' : controllers.replace(/^name=/, '');
    const names = path.split('/');
    const group = names.slice(0, 1 + names.findLastIndex((name) => name.includes(machine))).join('/');
    const folder = join('/sys/fs/cgroup', mount, group);
    if (group !== '' && ['cpu.max', 'cpu.cfs_quota_us'].some((file) => existsSync(join(folder, file)))) return folder;
  }
  throw new Error(`${machine} is in no group that limits CPU time: ${lines.join(', ')}`);
}

function limit(folder: string, us: number | undefined): void {
  const file = (name: string): string => join(folder, name);
  if (existsSync(file('cpu.max'))) return writeFileSync(file('cpu.max'), `${us ?? 'max'} ${periodUs}`);
  if (us !== undefined) writeFileSync(file('cpu.cfs_period_us'), String(periodUs));
  writeFileSync(file('cpu.cfs_quota_us'), String(us ?? -1));
}

export function slowMastersTopic(cluster: TrustCluster): void {
  test('a writer through the load balancer needs no more than one retry while every master is slow', async () => {
    const infraId = cluster.infraId();
    const groups = masters.map((master) => cpuGroup(infraId, master));
    const log = join(switchFolder(infraId), 'load-balancer.log');
    const failedChecks = (): number => readFileSync(log, 'utf8').split(/Server api\/master-\d is DOWN/).length;
    const before = failedChecks();
    const load = startLoad({ kubeconfig: trustKubeconfig(cluster), writesPerSecond: 20, watches: 5, namespace });
    onTestFinished(() => {
      load.kill();
      for (const group of groups) limit(group, undefined);
    });
    await eventually('that the load has begun', 30, async () => {
      const names = await trustKubectl(cluster, 'get', 'configmaps', '-n', namespace, '-o', 'name').catch(() => '');
      return names.includes('w-') ? true : undefined;
    });
    for (const group of groups) limit(group, quotaUs);
    await eventually('a check that a slow master fails', 60, async () => (failedChecks() > before ? true : undefined));
    await new Promise((done) => setTimeout(done, slowMs));
    for (const group of groups) limit(group, undefined);
    const { failed, lost, missed, acknowledged } = await load.end();
    expect({ failed, lost, missed }).toEqual({ failed: [], lost: [], missed: [] });
    expect(acknowledged).toBeGreaterThan(20);
    await trustKubectl(cluster, 'delete', 'namespace', namespace, '--wait=false');
  });
}
