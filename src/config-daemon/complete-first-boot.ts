// The completion of a first boot from a MachineConfig in a file, before the kubelet starts and without an API, as
// upstream's `firstboot-complete-machineconfig`. It ends in the whole config also on a machine that has another one or
// was damaged. Killed anywhere, the next run ends in the same state; the file is renamed last: it is there as long as
// something is left to do.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { emptyMachine, withNamedKernel } from '../machine-config/machine-config.ts';
import { reconcilableProblems } from '../machine-config/reconcilable.ts';
import { type AppliedConfig, appliedConfigOf } from './applied-config.ts';
import { isEmptyPlan, planChange } from './change-plan.ts';
import { completionPlan, readServedConfig, readUsableConfig, takeApart } from './completion-plan.ts';
import { forgetDaemonState } from './daemon-state.ts';
import { configDaemonErrors } from './errors.ts';
import { findDrift } from './find-drift.ts';
import { type ApplyRequest, changesNothing, surveyChange } from './survey-change.ts';
import { applyChange, finishChange, forgetChange, recoverChange, undoChange } from './transaction.ts';

export interface FirstBootCompletion {
  /** `complete`: nothing was left to do. `applied`: the machine has the config, and is to be rebooted. */
  readonly status: 'complete' | 'applied';
  /** The name of the config; undefined when there was no file. */
  readonly config: string | undefined;
  /** Paths that the former config had and that left with it. */
  readonly removed: readonly string[];
  /** Files that no config wrote, and that are in the folder `setAside` now. */
  readonly setAside: readonly string[];
}

export async function completeFirstBoot(
  host: Host,
  path: string = daemonFiles.encapsulated,
): Promise<FirstBootCompletion> {
  const content = await host.files.readIfPresent(path);
  if (content === undefined) return complete(undefined);
  const given = takeApart(appliedConfigOf(jsonIfValid(content), path));
  const { config: to, added } = given;
  await endUnfinishedChange(host);
  const own = await readUsableConfig(host);
  const former = own ?? (await readServedConfig(host));
  refuseImpossible(former, to);
  if (former === undefined && added.length === 0 && isEmptyPlan(planChange(emptyMachine, to.spec))) {
    if (path === daemonFiles.encapsulated) await host.files.remove(path);
    return complete(to.name);
  }
  const plan = await completionPlan(host, { ...given, from: former ?? { spec: emptyMachine } });
  const request = { from: former, to, plan };
  // An earlier run was cut off between its last two steps.
  const isDone = own?.name === to.name && changesNothing(await surveyChange(host, request));
  if (!isDone) await applyWhole(host, request);
  await forgetDaemonState(host);
  await moveAside(host, path);
  if (isDone) return complete(to.name);
  return { status: 'applied', config: to.name, removed: plan.leave, setAside: plan.foreign ?? [] };
}

function complete(config: string | undefined): FirstBootCompletion {
  return { status: 'complete', config, removed: [], setAside: [] };
}

async function applyWhole(host: Host, request: ApplyRequest): Promise<void> {
  const { to } = request;
  await applyChange(host, request);
  const drift = await findDrift(host, to.spec);
  if (drift.length > 0) {
    await undoChange(host);
    await forgetChange(host);
    throw configDaemonErrors.NOT_APPLIED({ to: to.name, reason: drift.map(({ message }) => message).join('; ') });
  }
  await finishChange(host);
}

/** While no kubelet runs nothing reads the files: a change that was applied and not finished is undone. */
export async function endUnfinishedChange(host: Host): Promise<void> {
  const found = await recoverChange(host);
  if (found === undefined) return;
  if (found.phase === 'applied') await undoChange(host);
  await forgetChange(host);
}

/** From the config that the machine has, or from none: what only the former config had stays as it is. */
function refuseImpossible(former: AppliedConfig | undefined, to: AppliedConfig): void {
  const baselines = [...(former === undefined ? [] : [former.spec]), emptyMachine];
  const problems = baselines.map((spec) => reconcilableProblems(withNamedKernel(spec), withNamedKernel(to.spec)));
  const [problem] = problems[0] ?? [];
  if (problem === undefined || problems.some((list) => list.length === 0)) return;
  throw configDaemonErrors.NOT_POSSIBLE({ subject: to.name, reason: problem.message });
}

/** A file at a path of the caller is the caller's. */
async function moveAside({ files }: Host, path: string): Promise<void> {
  if (path === daemonFiles.encapsulated) await files.rename(path, daemonFiles.encapsulatedDone, { isDurable: true });
}
