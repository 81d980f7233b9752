// Makes sure that this host can run machines: throws what is wrong before anything is changed, installs missing
// packages where it can, and returns the plan.
import type { Host } from '../../host/host.ts';
import { platformErrors } from '../errors.ts';
import type { ChangeContext } from '../platform.ts';
import { stateFolder } from './cluster-folder.ts';
import { detectHost } from './detected-host.ts';
import { installPackages } from './packages.ts';
import { type MachinePlan, planMachines } from './plan.ts';
import { findHostProblems } from './host-problems.ts';

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
