// What `doctor` shows: what this host is, what follows from it for machines, and what keeps it from having them.
import type { Host } from '../../host/host.ts';
import type { HostReport } from '../platform.ts';
import { stateFolder } from './cluster-folder.ts';
import { type DetectedHost, detectHost } from './detected-host.ts';
import { findHostProblems, inMebibytes } from './host-problems.ts';
import { type MachinePlan, planMachines } from './plan.ts';

export async function inspectHost(host: Host, machines: number): Promise<HostReport> {
  const detected = await detectHost(host, stateFolder);
  const problems = findHostProblems(detected, machines);
  const plan = planMachines(detected);
  return { summary: summaryOf(detected, plan), problems, data: { detected, plan, problems } };
}

function summaryOf(detected: DetectedHost, plan: MachinePlan): HostReport['summary'] {
  const missing = Object.entries(detected.programs).filter(([, path]) => path === undefined);
  return [
    ['kernel', detected.kernel],
    ['user', detected.isRoot ? 'root' : 'not root'],
    [
      'init',
      detected.hasHostSystemd
        ? 'systemd: machines are transient units'
        : 'not systemd: machines are sessions of their own',
    ],
    ['control groups', describeCgroups(plan)],
    ['oom scores', plan.node.restrictsOomScoreAdj ? 'cannot be lowered (no CAP_SYS_RESOURCE)' : 'can be lowered'],
    ['overlayfs', detected.hasOverlayfs ? 'there' : 'missing'],
    ['file system', `${detected.stateFileSystem}, ${inMebibytes(detected.freeDiskBytes)} free`],
    ['memory', `${inMebibytes(detected.availableMemoryBytes)} available`],
    ['programs', missing.length === 0 ? 'all there' : `missing: ${missing.map(([name]) => name).join(', ')}`],
  ];
}

function describeCgroups({ cgroup }: MachinePlan): string {
  if (cgroup.kind === 'delegated') return 'version 2, each machine’s delegated by systemd';
  return `version ${cgroup.version}, each machine’s made by us in ${cgroup.mounts.length} hierarchies`;
}
