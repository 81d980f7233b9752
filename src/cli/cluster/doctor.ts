// `firstlight doctor`: what this host is, what follows from it, and what is in the way.
import { z } from 'zod';
import { exitCodes } from '../../errors/exit-codes.ts';
import { stateFolder } from '../../platform/local/cluster-folder.ts';
import { type DetectedHost, detectHost } from '../../platform/local/detected-host.ts';
import { type MachinePlan, planMachines } from '../../platform/local/plan.ts';
import { findHostProblems, type HostProblem, inMebibytes } from '../../platform/local/problems.ts';
import type { CommandBody } from '../frame/verb.ts';
import { alignColumns } from '../machine/machine-table.ts';

export const doctor: CommandBody = async ({ host, options }) => {
  const { machines } = z.looseObject({ machines: z.coerce.number().int().positive() }).parse(options);
  const detected = await detectHost(host, stateFolder);
  const problems = findHostProblems(detected, { machines });
  const plan = planMachines(detected);
  return {
    data: { detected, plan, problems },
    text: describe(detected, plan, problems),
    exit: problems.length === 0 ? exitCodes.ok : exitCodes.infrastructure,
  };
};

function describe(detected: DetectedHost, plan: MachinePlan, problems: readonly HostProblem[]): string {
  const missing = Object.entries(detected.programs).filter(([, path]) => path === undefined);
  const facts = [
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
  const verdict =
    problems.length === 0
      ? 'This host can run machines.\n'
      : problems.map((problem) => `✗ ${problem.what}\n  ${problem.remedy}\n`).join('');
  return `${alignColumns(facts)}\n${verdict}`;
}

function describeCgroups({ cgroup }: MachinePlan): string {
  if (cgroup.kind === 'delegated') return 'version 2, each machine’s delegated by systemd';
  return `version ${cgroup.version}, each machine’s made by us in ${cgroup.mounts.length} hierarchies`;
}
