// Route two on the host: one stage of the payload, step after step. A step that is done is never run again in the same
// attempt; a step that was cut off is. A stage that fails is undone before its failure is told, and so is the stage
// before it: the machine ends with the new configuration or with the one that it had.
import { posix } from 'node:path';
import { z } from 'zod';
import { saveServedOriginals } from '../../config-daemon/originals.ts';
import {
  type AttemptSettings,
  attemptFiles,
  type HostAttempt,
  type InPlacePhase,
  messageLengthMax,
  type ProgressEvent,
} from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootIdFile, bootstrapKubeconfig } from '../../contract/machine-paths.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { RunResult } from '../../host/processes.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { latestSpec } from '../../ignition/spec-version.ts';
import { pauseBefore } from '../../workflow/retry.ts';
import { machineVariablesVariable } from '../payload/bootstrap-script.ts';
import { payloadErrors } from '../payload/errors.ts';
import { isContentsOf, payloadPaths, type StageTouches } from '../payload/payload-manifest.ts';
import { payloadProxyVariables } from '../payload/payload-request.ts';
import { type PayloadStage, retryLaterCode } from '../payload/payload-steps.ts';
import { type FetchedPayload, fetchPayload } from './fetch-payload.ts';
import { formerLeftovers } from './former-leftovers.ts';
import { giveBackIdentity, setUnfitIdentityAside } from './kubelet-identity.ts';
import { keepBefore, putBack } from './stage-undo.ts';

/** The phase of an attempt in which a stage runs. */
export const phaseOfStage = { base: 'Applying', kube: 'KubeApplying' } as const satisfies Record<
  PayloadStage,
  InPlacePhase
>;

export type StageEvent = Pick<ProgressEvent, 'phase' | 'step' | 'status' | 'message'> &
  Partial<Pick<ProgressEvent, 'code' | 'digests' | 'percent'>>;

export interface PayloadRun {
  readonly settings: AttemptSettings;
  /** Of this attempt, as the state file has it. */
  readonly history: HostAttempt['history'];
  readonly report: (event: StageEvent) => Promise<void>;
  /** What is left of the limit of the phase. */
  readonly remainingMs: number;
  /** Ends the process and nothing else: the next one goes on where this one was. */
  readonly signal: AbortSignal;
}

export interface StageFailure {
  readonly code: StageFailureCode;
  readonly message: string;
}

/**
 * `PayloadRefused`: it was not downloaded, or not signed for this worker; nothing was changed. `StageFailed`: a step
 * failed. `RepositoriesUnavailable`: a step could have succeeded later, until the time was over. `ApplyTimeout`: a step
 * did not end. `NotCleared`, `RebootNotHappened`: stage B is not allowed yet.
 */
export const stageFailureCodes = [
  'PayloadRefused',
  'StageFailed',
  'RepositoriesUnavailable',
  'ApplyTimeout',
  'NotCleared',
  'RebootNotHappened',
] as const;
export type StageFailureCode = (typeof stageFailureCodes)[number];

export type StageOutcome =
  | { readonly status: 'done'; readonly digests: Readonly<Record<string, string>> }
  /** The machine has its former configuration again; updated packages stay. */
  | { readonly status: 'undone'; readonly failure: StageFailure };

class StepFailed extends Error {
  readonly code: StageFailureCode;

  constructor(code: StageFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

const failureSchema = z.object({ code: z.enum(stageFailureCodes), message: z.string() });

function stateFiles(attemptId: string) {
  const folder = `${attemptFiles(attemptId).folder}/payload-state`;
  return {
    folder,
    /** Exists from the moment a stage has failed: from then on there is only the way back. */
    failure: `${folder}/failure.json`,
    machineVariables: `${folder}/machine-variables.json`,
    undo: (stage: PayloadStage) => `${folder}/undo-${stage}`,
    done: (stage: PayloadStage, step: string) => `${folder}/done-${stage}-${step}`,
  };
}

/** Runs what is missing of a stage. Throws only when the signal ends it. */
export async function runPayloadStage(host: Host, run: PayloadRun, stage: PayloadStage): Promise<StageOutcome> {
  const state = stateFiles(run.settings.attemptId);
  await host.files.makeFolder(state.folder, { mode: 0o700 });
  const earlier = await readFailure(host, state.failure);
  if (earlier !== undefined) return await undone(host, run.settings, earlier);
  try {
    const payload = await fetchPayload(host, run.settings, run.signal);
    const work = { stage, payload, endMs: host.clock.monotonicMs() + run.remainingMs };
    await prepareStage(host, run, work);
    for (const step of payload.manifest.steps) {
      if (step.stage === stage) await runStep(host, run, { ...work, step: step.name });
    }
    return { status: 'done', digests: { [payloadPaths.manifest]: payload.digest } };
  } catch (error) {
    run.signal.throwIfAborted();
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return await undone(host, run.settings, failure);
  }
}

const refusals = [payloadErrors.DOWNLOAD, payloadErrors.REFUSED, payloadErrors.DAMAGED, hostErrors.NETWORK];

function failureOf(error: unknown): StageFailure | undefined {
  if (error instanceof StepFailed) return { code: error.code, message: error.message };
  if (!(error instanceof FirstlightError)) return undefined;
  const isAboutPayload = refusals.some((row) => isError(error, row));
  return { code: isAboutPayload ? 'PayloadRefused' : 'StageFailed', message: error.message };
}

async function readFailure({ files }: Host, path: string): Promise<StageFailure | undefined> {
  const content = await files.readIfPresent(path);
  return content === undefined ? undefined : failureSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
}

/** The later stage first. From the record of the failure on, an attempt that was cut off goes back as well. */
export async function undoPayload(host: Host, settings: AttemptSettings, failure: StageFailure): Promise<void> {
  const state = stateFiles(settings.attemptId);
  await host.files.makeFolder(state.folder, { mode: 0o700 });
  if ((await readFailure(host, state.failure)) === undefined) {
    await host.files.write(state.failure, JSON.stringify(failure), { mode: 0o600 });
  }
  await putBack(host, state.undo('kube'));
  await putBack(host, state.undo('base'));
  await giveBackIdentity(host, settings.attemptId);
}

async function undone(host: Host, settings: AttemptSettings, failure: StageFailure): Promise<StageOutcome> {
  await undoPayload(host, settings, failure);
  return { status: 'undone', failure };
}

interface StageWork {
  readonly stage: PayloadStage;
  readonly payload: FetchedPayload;
  /** By the monotonic clock. */
  readonly endMs: number;
}

interface StepWork extends StageWork {
  readonly step: string;
}

async function prepareStage(host: Host, run: PayloadRun, { stage, payload }: StageWork): Promise<void> {
  const state = stateFiles(run.settings.attemptId);
  const touches = payload.manifest.touches[stage];
  if (stage === 'base') return await keepBefore(host, state.undo(stage), touches);
  await checkKubeAllowed(host, run);
  if ((await host.files.facts(state.machineVariables)) === undefined) {
    // Before anything of the former configuration is gone.
    const variables = await formerLeftovers(host, touches);
    await host.files.write(state.machineVariables, JSON.stringify(variables, null, 2), { mode: 0o600 });
  }
  await keepBefore(host, state.undo(stage), withFormer(touches, await readVariables(host, state.machineVariables)));
  await saveOriginalsOf(host, payload);
  const kubeconfig = await contentsOf(host, payload, bootstrapKubeconfig);
  await setUnfitIdentityAside(host, run.settings.attemptId, Buffer.from(kubeconfig ?? '').toString('utf8'));
}

const variablesSchema = z.object({
  ipb_former: z.array(z.object({ path: z.string(), original: z.string() })),
  ipb_former_units: z.array(z.string()),
});
type ReadVariables = z.infer<typeof variablesSchema>;

async function readVariables({ files }: Host, path: string): Promise<ReadVariables> {
  return variablesSchema.parse(JSON.parse(await files.readText(path)));
}

function withFormer(touches: StageTouches, variables: ReadVariables): StageTouches {
  return {
    paths: [...touches.paths, ...variables.ipb_former.map(({ path }) => ({ path, what: 'contents' as const }))],
    units: [...touches.units, ...variables.ipb_former_units],
  };
}

/** What later configurations put back when they drop a path: as the first boot of a machine keeps it. */
async function saveOriginalsOf(host: Host, payload: FetchedPayload): Promise<void> {
  const content = await contentsOf(host, payload, daemonFiles.currentConfig);
  if (content === undefined) return;
  const served = inlineFile({ path: daemonFiles.servedMachineConfig, content, mode: 0o600 });
  await saveServedOriginals(host, { ignition: { version: latestSpec }, storage: { files: [served] } });
}

async function contentsOf(host: Host, { folder, manifest }: FetchedPayload, path: string) {
  const name = Object.keys(manifest.files).find((candidate) => isContentsOf(candidate, path));
  return name === undefined ? undefined : await host.files.read(posix.join(folder, name));
}

/** The kubelet starts in stage B: never with the label on the node, and never in the boot of stage A. */
async function checkKubeAllowed({ files }: Host, { history }: PayloadRun): Promise<void> {
  if (!history.some(({ phase }) => phase === 'LabelCleared')) {
    throw new StepFailed('NotCleared', 'stage B is asked for before the label of the node was removed');
  }
  const bootId = (await files.readText(bootIdFile)).trim();
  const base = history.find(({ phase }) => phase === phaseOfStage.base);
  if (base === undefined || base.bootId === bootId) {
    throw new StepFailed('RebootNotHappened', 'stage B is asked for in the boot in which stage A has run');
  }
}

const laterPolicy = { attempts: Number.POSITIVE_INFINITY, firstPauseMs: 5_000, maxPauseMs: 60_000 };

async function runStep(host: Host, run: PayloadRun, work: StepWork): Promise<void> {
  const { stage, step, payload, endMs } = work;
  const done = stateFiles(run.settings.attemptId).done(stage, step);
  const key = `${payload.digest} ${stage}/${step}\n`;
  if (Buffer.from((await host.files.readIfPresent(done)) ?? '').toString('utf8') === key) return;
  const phase = phaseOfStage[stage];
  const name = `${stage}/${step}`;
  await run.report({ phase, step: name, status: 'started', message: `${name} of ${payload.manifest.config}` });
  for (let attempt = 1; ; attempt += 1) {
    const result = await execute(host, run, work);
    if (result.code === 0) break;
    const reason = lastWords(result);
    if (result.timedOut) throw new StepFailed('ApplyTimeout', `${name} did not end in its time: ${reason}`);
    if (result.code !== retryLaterCode) throw new StepFailed('StageFailed', `${name} failed: ${reason}`);
    const pauseMs = pauseBefore(laterPolicy, attempt, host.random);
    if (host.clock.monotonicMs() + pauseMs >= endMs) {
      throw new StepFailed('RepositoriesUnavailable', `${name} could not be done in its time: ${reason}`);
    }
    const message = `tried again in ${Math.round(pauseMs / 1000)} s: ${reason}`.slice(0, messageLengthMax);
    await run.report({ phase, step: name, status: 'warning', message });
    await host.clock.sleep(pauseMs, run.signal);
  }
  await host.files.write(done, key, { mode: 0o600 });
  await run.report({ phase, step: name, status: 'ok', message: '' });
}

async function execute(host: Host, run: PayloadRun, { stage, step, payload, endMs }: StepWork): Promise<RunResult> {
  const { settings, signal } = run;
  const { log } = attemptFiles(settings.attemptId);
  await using output = await host.files.openAppend(log, { mode: 0o600, isDurable: false });
  const variables = stage === 'kube' ? stateFiles(settings.attemptId).machineVariables : '';
  const result = await host.processes.run('/bin/bash', [posix.join(payload.folder, payloadPaths.script), stage, step], {
    cwd: payload.folder,
    env: { ...payloadProxyVariables(settings.grant.secret), [machineVariablesVariable]: variables },
    timeoutMs: Math.max(1, endMs - host.clock.monotonicMs()),
    signal,
    keepBytes: 64 * 1024,
  });
  await output.append(`== ${stage}/${step}: ${result.code ?? result.signal}\n${result.stdout}${result.stderr}`);
  return result;
}

/** What ansible or the script says about the last failure, or the end of all that was said. */
function lastWords({ stdout, stderr }: RunResult): string {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  const failed = lines.filter((line) => /^(fatal|failed): |^ERROR! |^bootstrap\.sh: /.test(line)).at(-1);
  const said = z.object({ msg: z.string() }).safeParse(jsonIfValid(failed?.split(' => ').at(-1) ?? '')).data?.msg;
  return (said ?? failed ?? lines.slice(-3).join(' ')).trim().slice(0, messageLengthMax / 2);
}
