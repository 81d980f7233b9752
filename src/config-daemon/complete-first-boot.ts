// The completion of a first boot from a MachineConfig in a file, before the kubelet starts and without an API, as
// upstream's `firstboot-complete-machineconfig`. The baseline is a machine without any config. Killed anywhere, the
// next run ends in the same state; the file is renamed last: it is there as long as something is left to do.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import { configSpec } from '../machine-config/machine-config.ts';
import { reconcilableProblems } from '../machine-config/reconcilable.ts';
import { readOwnConfig } from './adopt-served-config.ts';
import { type AppliedConfig, appliedConfigOf } from './applied-config.ts';
import { isEmptyPlan, planChange } from './change-plan.ts';
import { configDaemonErrors } from './errors.ts';
import { findDrift } from './find-drift.ts';
import { applyChange, finishChange, forgetChange, recoverChange, undoChange } from './transaction.ts';

export interface FirstBootCompletion {
  /** `complete`: nothing was left to do. `applied`: the machine has the config, and is to be rebooted. */
  readonly status: 'complete' | 'applied';
  /** The name of the config; undefined when there was no file. */
  readonly config: string | undefined;
}

export async function completeFirstBoot(
  host: Host,
  path: string = daemonFiles.encapsulated,
): Promise<FirstBootCompletion> {
  const content = await host.files.readIfPresent(path);
  if (content === undefined) return { status: 'complete', config: undefined };
  const to = appliedConfigOf(jsonIfValid(content), path);
  await endEarlierRun(host);
  const own = await readOwnConfig(host);
  const from = own ?? { name: '', spec: emptyMachine };
  const plan = planChange(from.spec, to.spec);
  if (isEmptyPlan(plan)) {
    refuseImpossible(from, to);
    // With the config of this very name an earlier run was cut off between its last two steps.
    if (own?.name === to.name) await setAside(host, path);
    else if (path === daemonFiles.encapsulated) await host.files.remove(path);
    return { status: 'complete', config: to.name };
  }
  refuseImpossible(from, to);
  await applyChange(host, { from: own, to, plan });
  const drift = await findDrift(host, to.spec);
  if (drift.length > 0) {
    await undoChange(host);
    await forgetChange(host);
    throw configDaemonErrors.NOT_APPLIED({ to: to.name, reason: drift.map(({ message }) => message).join('; ') });
  }
  await finishChange(host);
  await setAside(host, path);
  return { status: 'applied', config: to.name };
}

const emptyMachine = configSpec({ ignition: { version: latestSpec } });

/** Before the kubelet nothing reads the files: a change that was applied and not finished begins again. */
async function endEarlierRun(host: Host): Promise<void> {
  const found = await recoverChange(host);
  if (found === undefined) return;
  if (found.phase === 'applied') await undoChange(host);
  await forgetChange(host);
}

function refuseImpossible(from: AppliedConfig, to: AppliedConfig): void {
  // A rendered config says `default` where nobody has chosen a kernel.
  const named = ({ spec }: AppliedConfig) => ({ ...spec, kernelType: spec.kernelType || ('default' as const) });
  const [problem] = reconcilableProblems(named(from), named(to));
  if (problem !== undefined) throw configDaemonErrors.NOT_POSSIBLE({ subject: to.name, reason: problem.message });
}

/** A file at a path of the caller is the caller's. */
async function setAside({ files }: Host, path: string): Promise<void> {
  if (path === daemonFiles.encapsulated) await files.rename(path, daemonFiles.encapsulatedDone, { isDurable: true });
}
