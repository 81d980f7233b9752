// Whether this host can run machines. `doctor` inspects it and changes nothing; commands that make machines prepare it:
// they throw what is wrong before anything is changed, install missing packages where that is possible, and get the
// plan.
import type { Host } from '../../host/host.ts';
import { platformErrors } from '../errors.ts';
import type { ChangeContext, HostReport } from '../platform.ts';
import { stateFolder } from './cluster-folder.ts';
import { type DetectedHost, detectHost } from './detected-host.ts';
import { findHostProblems, inMebibytes } from './host-problems.ts';
import { installPackages } from './packages.ts';
import { type MachinePlan, planMachines } from './plan.ts';

export async function prepareHost(host: Host, { emit, signal }: ChangeContext, machines: number): Promise<MachinePlan> {
  const detected = await detectHost(host, stateFolder);
  const problems = findHostProblems(detected, machines);
  if (problems.length === 0) return planMachines(detected);
  const packages = problems.flatMap((problem) => problem.packages ?? []);
  const others = problems.filter((problem) => problem.packages === undefined);
  if (others.length > 0 || !detected.canInstallPackages) throw platformErrors.HOST_UNFIT({ problems });
  const { hasHostSystemd } = detected;
  await installPackages(host, { packages, hasHostSystemd, emit, signal });
  const again = await detectHost(host, stateFolder);
  const left = findHostProblems(again, machines);
  if (left.length > 0) throw platformErrors.HOST_UNFIT({ problems: left });
  return planMachines(again);
}

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
