// Carries out one step of a change on the machine. Each step records in the state file what comes next when it is done,
// so that a step which was cut off is made again. No step talks to the API.
import { daemonFiles } from '../contract/machine-config-node.ts';
import { unitNames } from '../contract/unit-names.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { DisruptionPolicies } from '../machine-config/disruption.ts';

import { readOwnConfig } from './adopt-served-config.ts';
import type { AppliedConfig } from './applied-config.ts';
import { planChange } from './change-plan.ts';
import {
  type ChangeFailure,
  type DaemonState,
  emptyDaemonState,
  type MachineChange,
  readChangeTarget,
  readDaemonState,
  removeChangeTarget,
  writeChangeTarget,
  writeDaemonState,
} from './daemon-state.ts';
import { configDaemonErrors } from './errors.ts';
import { findDrift, planHeal } from './find-drift.ts';
import { isNodeUp, type MachineStep, type NodeSight, phaseAfterFiles, retryPauseMs } from './next-daemon-step.ts';
import { isOwnRestart, performAction, reboot } from './post-actions.ts';
import { prepareChange } from './prepare-change.ts';
import { applyChange, finishChange, forgetChange, readChange, recoverChange, undoChange } from './transaction.ts';
import { findUnitHealth } from './unit-health.ts';

export interface StepContext {
  readonly host: Host;
  readonly state: DaemonState;
  readonly bootId: string;
  readonly node?: NodeSight | undefined;
}

/** What was done, for the log; or what the step still waits for. */
export type StepResult = { readonly did: string } | { readonly waitsFor: string };

export interface ChangeInput {
  readonly to: AppliedConfig;
  readonly policies: DisruptionPolicies;
  readonly isForced: boolean;
}

export function performMachineStep(context: StepContext, step: MachineStep): Promise<StepResult> {
  switch (step.kind) {
    case 'rewrite':
      return rewrite(context);
    case 'forget-failure':
      return forgetFailure(context);
    case 'abandon':
      return abandon(context, step.change);
    case 'apply':
      return apply(context, step.change);
    case 'undo':
      return undo(context, step.change);
    case 'act':
      return act(context, step.change);
    case 'reboot':
      return askForReboot(context);
    case 'begin-verifying':
      return beginVerifying(context, step.change);
    case 'verify':
      return verify(context, step.change);
  }
}

/** To be called once after a start, before the first step. */
export async function recoverMachine(host: Host): Promise<void> {
  const found = await recoverChange(host);
  const { change } = await readDaemonState(host);
  if (found === undefined || change !== undefined) return;
  // Only writing back has no record in the state file; all of its files are in place or none.
  if (found.phase === 'applied') await (found.from === found.to.name ? finishChange(host) : undoChange(host));
  await forgetIfUndone(host);
}

/** Judges a change; records it, or why it cannot be made. */
export async function recordChange(context: StepContext, input: ChangeInput): Promise<StepResult> {
  const { host, bootId } = context;
  const from = await mustReadOwn(host);
  const { failed, starting } = await findUnitHealth(host, enabledUnits(input.to));
  const failedBefore = [...failed, ...starting].map(({ unit }) => unit).filter((unit) => unit !== unitNames.kubelet);
  const prepared = prepareChange({ ...input, from, bootId, failedBefore, now: host.clock.now() });
  if (prepared.status === 'unreconcilable') {
    const { reason } = prepared;
    await writeDaemonState(host, {
      ...emptyDaemonState,
      failure: { config: input.to.name, reason, state: 'Unreconcilable', attempts: 1 },
    });
    return { did: `refused ${input.to.name}: ${reason}` };
  }
  await writeChangeTarget(host, input.to);
  await writeDaemonState(host, { ...emptyDaemonState, change: prepared.change });
  if (input.isForced) await host.files.remove(daemonFiles.force);
  return { did: `begins to change from ${from.name} to ${input.to.name}` };
}

/** A failure before anything changed: it is tried again, ever more rarely. */
export async function recordTrouble(
  { host, state }: Pick<StepContext, 'host' | 'state'>,
  config: string,
  reason: string,
): Promise<void> {
  await writeDaemonState(host, { ...state, failure: troubleOf(host, { state, config, reason }) });
}

function troubleOf(
  host: Host,
  { state, config, reason }: { readonly state: DaemonState; readonly config: string; readonly reason: string },
): ChangeFailure {
  const attempts = (state.failure?.config === config ? state.failure.attempts : 0) + 1;
  const retryAt = new Date(host.clock.now().getTime() + retryPauseMs(attempts)).toISOString();
  return { config, reason, state: 'Degraded', attempts, retryAt };
}

async function apply(context: StepContext, change: MachineChange): Promise<StepResult> {
  const { host } = context;
  const from = await mustReadOwn(host);
  const to = await mustReadTarget(host);
  // A daemon that was cut off after the files had changed finds them applied.
  const isApplied = (await readChange(host))?.phase === 'applied';
  if (!isApplied) {
    await forgetIfUndone(host);
    await writeDaemonState(host, { ...context.state, change: inPhase(host, change, 'applying') });
    const failed = await tryApply(host, { from, to, isWhole: change.isForced });
    if (failed !== undefined) return notApplied(context, change, failed);
  }
  // If the machine was rebooted meanwhile, it has done what a reboot is for.
  const bootId = (await readChange(host))?.bootId ?? context.bootId;
  const next = { ...inPhase(host, change, phaseAfterFiles(change)), bootId };
  await writeDaemonState(host, { ...emptyDaemonState, change: next });
  return { did: `wrote the files of ${to.name}` };
}

async function tryApply(
  host: Host,
  { from, to, isWhole }: { readonly from: AppliedConfig; readonly to: AppliedConfig; readonly isWhole: boolean },
): Promise<FirstlightError | undefined> {
  try {
    await applyChange(host, { from, to, plan: planChange(from.spec, to.spec, { isWhole }) });
    return undefined;
  } catch (error) {
    if (error instanceof FirstlightError) return error;
    throw error;
  }
}

async function notApplied(context: StepContext, change: MachineChange, error: FirstlightError): Promise<StepResult> {
  const { host, state } = context;
  if (isError(error, configDaemonErrors.NOT_APPLIED)) {
    await forgetIfUndone(host);
    await writeDaemonState(host, { ...emptyDaemonState, failure: finalFailure(change.to, error.message) });
    return { did: error.message };
  }
  // Nothing has changed: the machine stays drained and tries again.
  const failure = troubleOf(host, { state, config: change.to, reason: error.message });
  await writeDaemonState(host, { ...emptyDaemonState, change: inPhase(host, change, 'draining'), failure });
  return { did: error.message };
}

async function undo({ host, bootId }: StepContext, change: MachineChange): Promise<StepResult> {
  if ((await readChange(host))?.phase === 'applied') await undoChange(host);
  const next = { ...inPhase(host, change, phaseAfterFiles(change)), bootId };
  await writeDaemonState(host, { ...emptyDaemonState, change: next });
  return { did: `put back the files of ${change.from}` };
}

async function act({ host }: StepContext, change: MachineChange): Promise<StepResult> {
  const action = change[change.direction].actions[change.actionsBegun];
  if (action === undefined) throw new Error(`${change.to} has no action ${change.actionsBegun}`);
  const next = { ...change, actionsBegun: change.actionsBegun + 1 };
  const text = 'unit' in action ? `${action.kind} ${action.unit}` : action.kind;
  if (isOwnRestart(action)) {
    const restarting = { ...next, restartingPid: host.environment.pid };
    await writeDaemonState(host, { ...emptyDaemonState, change: restarting });
    await performAction(host, action);
    return { did: text };
  }
  try {
    await performAction(host, action);
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    // On the way back nothing is left to return to: the verification says what does not work.
    if (change.direction === 'forward') return goBack(host, change, error.message);
  }
  await writeDaemonState(host, { ...emptyDaemonState, change: next });
  return { did: text };
}

async function askForReboot({ host }: StepContext): Promise<StepResult> {
  await reboot(host);
  return { waitsFor: 'the reboot of the machine' };
}

async function beginVerifying({ host }: StepContext, change: MachineChange): Promise<StepResult> {
  await writeDaemonState(host, { ...emptyDaemonState, change: inPhase(host, change, 'verifying') });
  return { did: change.phase === 'rebooting' ? 'booted again' : 'made all actions' };
}

/** How long units may take until they work. */
const healthLimitMs = 90_000;

async function verify(context: StepContext, change: MachineChange): Promise<StepResult> {
  const { host } = context;
  const applied = await mustReadOwn(host);
  const isForward = change.direction === 'forward';
  // A daemon that was cut off after it had finished the change finds the new config as the machine's own.
  const isFinished = isForward && applied.name === change.to && change.from !== change.to;
  if (isFinished) return closeChange(host, change);
  const config = isForward ? await mustReadTarget(host) : applied;
  const trouble = await verificationOf(context, change, config);
  if (trouble.length === 0) return isForward ? finish(host, change) : closeUndone(host, change, []);
  const isOver = host.clock.now().getTime() - Date.parse(change.since) > healthLimitMs;
  if (!isOver && trouble.every(({ isFinal }) => !isFinal)) {
    return { waitsFor: `everything to be in order: ${trouble.map(({ text }) => text).join(', ')}` };
  }
  const texts = trouble.filter(({ isFinal }) => isFinal || isOver).map(({ text }) => text);
  return isForward ? goBack(host, change, texts.join('; ')) : closeUndone(host, change, texts);
}

interface Trouble {
  readonly text: string;
  /** Nothing changes it without a person. */
  readonly isFinal: boolean;
}

/** Without an API nobody can say whether the node is up: then the units of the machine decide. */
const sightLimitMs = 30_000;

function nodeTrouble({ host, node, bootId }: StepContext, change: MachineChange): readonly Trouble[] {
  if (isNodeUp(node, bootId)) return [];
  if (node !== undefined) return [{ text: 'the node is not Ready', isFinal: false }];
  const isPatient = host.clock.now().getTime() - Date.parse(change.since) < sightLimitMs;
  return isPatient ? [{ text: 'the API does not show the node', isFinal: false }] : [];
}

async function verificationOf(
  context: StepContext,
  change: MachineChange,
  config: AppliedConfig,
): Promise<readonly Trouble[]> {
  const { host } = context;
  const [drift, health] = await Promise.all([findDrift(host, config.spec), findUnitHealth(host, enabledUnits(config))]);
  const isNew = ({ unit }: { readonly unit: string }): boolean => !change.failedBefore.includes(unit);
  return [
    ...drift.map(({ message }) => ({ text: message, isFinal: true })),
    ...health.failed.filter(isNew).map(({ text }) => ({ text, isFinal: true })),
    ...health.starting.filter(isNew).map(({ text }) => ({ text, isFinal: false })),
    ...nodeTrouble(context, change),
  ];
}

async function finish(host: Host, change: MachineChange): Promise<StepResult> {
  await finishChange(host);
  return closeChange(host, change);
}

async function closeChange(host: Host, change: MachineChange): Promise<StepResult> {
  await writeDaemonState(host, emptyDaemonState);
  await removeChangeTarget(host);
  return { did: `has ${change.to}` };
}

async function closeUndone(host: Host, change: MachineChange, trouble: readonly string[]): Promise<StepResult> {
  await forgetIfUndone(host);
  const after = trouble.length === 0 ? '' : `; and with ${change.from} again: ${trouble.join('; ')}`;
  const reason = `${change.reason}${after}`;
  await writeDaemonState(host, { ...emptyDaemonState, failure: finalFailure(change.to, reason) });
  await removeChangeTarget(host);
  return { did: `has ${change.from} again: ${reason}` };
}

async function goBack(host: Host, change: MachineChange, trouble: string): Promise<StepResult> {
  const reason = `${change.to} was undone: ${trouble}`;
  const { restartingPid: _, ...rest } = change;
  const back: MachineChange = {
    ...inPhase(host, rest, 'applying'),
    direction: 'back',
    reason,
    actionsBegun: 0,
  };
  await writeDaemonState(host, { ...emptyDaemonState, change: back });
  return { did: reason };
}

async function forgetIfUndone(host: Host): Promise<void> {
  if ((await readChange(host))?.phase === 'undone') await forgetChange(host);
}

/** A change that only waited for its drain. */
async function abandon({ host }: StepContext, change: MachineChange): Promise<StepResult> {
  await writeDaemonState(host, emptyDaemonState);
  return { did: `gave up ${change.to} before anything had changed` };
}

async function forgetFailure({ host }: StepContext): Promise<StepResult> {
  await writeDaemonState(host, emptyDaemonState);
  return { did: 'another config is wanted than the one that failed' };
}

/** Writes back what has drifted. */
async function rewrite({ host }: StepContext): Promise<StepResult> {
  const config = await mustReadOwn(host);
  const drift = await findDrift(host, config.spec);
  if (drift.length > 0) {
    await applyChange(host, { from: config, to: config, plan: planHeal(config.spec, drift) });
    await finishChange(host);
  }
  await host.files.remove(daemonFiles.force);
  return { did: `wrote back ${drift.map(({ subject }) => subject).join(', ') || 'nothing'}` };
}

function finalFailure(config: string, reason: string): ChangeFailure {
  return { config, reason, state: 'Degraded', attempts: 1 };
}

function inPhase(host: Host, change: MachineChange, phase: MachineChange['phase']): MachineChange {
  return change.phase === phase ? change : { ...change, phase, since: host.clock.now().toISOString() };
}

function enabledUnits({ spec }: AppliedConfig): readonly string[] {
  return (spec.config.systemd?.units ?? []).filter(({ enabled }) => enabled === true).map(({ name }) => name);
}

async function mustReadOwn(host: Host): Promise<AppliedConfig> {
  const config = await readOwnConfig(host);
  if (config === undefined) throw new Error(`${daemonFiles.currentConfig} is gone`);
  return config;
}

async function mustReadTarget(host: Host): Promise<AppliedConfig> {
  const config = await readChangeTarget(host);
  if (config === undefined) throw new Error('the config that the change leads to is gone');
  return config;
}
