// Makes sure that this host can run machines: names what is wrong before anything is touched, installs packages that
// are missing where it can, and returns the plan.
import type { Host } from '../../host/host.ts';
import type { Emit } from '../../workflow/events.ts';
import { platformErrors } from '../errors.ts';
import { detectHost } from './detected-host.ts';
import { installPackages } from './packages.ts';
import { type MachinePlan, planMachines } from './plan.ts';
import { findHostProblems, type HostNeeds } from './problems.ts';

export interface PrepareOptions {
  readonly stateFolder: string;
  readonly needs: HostNeeds;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function prepareHost(host: Host, options: PrepareOptions): Promise<MachinePlan> {
  const detected = await detectHost(host, options.stateFolder);
  const problems = findHostProblems(detected, options.needs);
  if (problems.length === 0) return planMachines(detected);
  const packages = problems.flatMap((problem) => problem.packages ?? []);
  const others = problems.filter((problem) => problem.packages === undefined);
  if (others.length > 0 || !detected.canInstallPackages) throw platformErrors.HOST_UNFIT({ problems });
  const { hasHostSystemd } = detected;
  await installPackages(host, { packages, hasHostSystemd, emit: options.emit, signal: options.signal });
  const again = await detectHost(host, options.stateFolder);
  const left = findHostProblems(again, options.needs);
  if (left.length > 0) throw platformErrors.HOST_UNFIT({ problems: left });
  return planMachines(again);
}
