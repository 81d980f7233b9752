// The pod of the in-place bootstrapper: asks for its grant, lets the host check itself, reports, waits until the node
// is drained, puts the attempt on the host and starts its unit. Then the host works alone, and the pod idles until it
// is deleted. Everything that touches the host is done by the host, in units that the pod starts there.
import { z } from 'zod';
import {
  type AttemptSettings,
  hostAttemptSchema,
  type InPlaceFacts,
  inPlaceFactsSchema,
  inPlaceFiles,
  inPlaceUnits,
  type PreflightResult,
  preflightIds,
  type ReporterGrant,
} from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { isEnd, phaseTable } from '../phases.ts';
import { preflightEvent } from '../reporting/preflight-event.ts';
import { type AttemptReporter, openReporter } from '../reporting/reporter.ts';
import { askGrant } from './ask-grant.ts';
import { inPlacePodErrors } from './errors.ts';
import { connectHostUnits, type HostUnits } from './host-units.ts';
import { nextPodStep } from './next-pod-step.ts';
import { podPaths } from './pod-paths.ts';
import { podRoot, programCommand } from './program-command.ts';

const settingsFile = `${podPaths.work}/settings.json`;
const resultFile = `${podPaths.work}/preflight.json`;

export interface PodOptions {
  /** The node of the pod. */
  readonly node: string;
  /** The image of the pod, by digest. */
  readonly image: string | undefined;
  /** Of this program. */
  readonly version: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const askAgainMs = { wait: 300, idle: 5_000 } as const;

/** Until the signal. */
export async function runPod(host: Host, options: PodOptions): Promise<void> {
  const { node, signal } = options;
  const content = await host.files.readIfPresent(podPaths.facts);
  const facts = inPlaceFactsSchema.safeParse(jsonIfValid(content ?? '')).data;
  if (facts === undefined) throw inPlacePodErrors.NOT_POD({ missing: podPaths.facts });
  await using units = await connectHostUnits(host);
  const log = newLog(options.log);
  let endedAttempt: string | undefined;
  while (!signal.aborted) {
    const answer = await askGrant(host, { facts, node, tokenFile: podPaths.token }, signal);
    const unit = answer.status === 'granted' ? inPlaceUnits.run(answer.grant.attemptId) : undefined;
    const step = nextPodStep({
      answer,
      hostAttempt: await readHostAttempt(host),
      unitState: unit === undefined ? 'inactive' : await units.activeState(unit),
      endedAttempt,
    });
    if (step.kind === 'attempt') {
      log(`attempt ${step.grant.attemptId}`);
      await bringAttempt({ host, units, facts, options, log }, step.grant);
      endedAttempt = step.grant.attemptId;
      continue;
    }
    log(step.kind === 'wait' ? `waits for ${step.waitsFor}` : `idle: ${step.because}`);
    await host.clock.sleep(askAgainMs[step.kind], signal);
  }
}

/** What is said again and again is said once. */
function newLog(write: (line: string) => void): (line: string) => void {
  let last = '';
  return (line) => {
    if (line !== last) write(line);
    last = line;
  };
}

async function readHostAttempt({ files }: Host) {
  const content = await files.readIfPresent(podPaths.host + inPlaceFiles.state);
  return hostAttemptSchema.safeParse(jsonIfValid(content ?? '')).data;
}

interface PodParts {
  readonly host: Host;
  readonly units: HostUnits;
  readonly facts: InPlaceFacts;
  readonly options: PodOptions;
  readonly log: (line: string) => void;
}

/** Returns when the host works on it, or when it has ended. */
async function bringAttempt(parts: PodParts, grant: ReporterGrant): Promise<void> {
  const { host, facts, options, log } = parts;
  const { attemptId } = grant;
  const settings: AttemptSettings = {
    attemptId,
    node: options.node,
    isAdoption: false,
    facts,
    grant,
    ...(options.image === undefined ? {} : { programImage: options.image }),
    lastSeq: grant.ackSeq,
    programDigests: {},
  };
  await using reporter = await openReporter(host, {
    settings,
    spool: `${podPaths.work}/spool-${attemptId}`,
    agentVersion: options.version,
    onTrouble: (sink, problem) => log(`${sink}: ${problem}`),
  });
  const message = `checks on ${options.node}`;
  const startedSeq = await reporter.report({ phase: 'Preflight', step: 'preflight', status: 'started', message });
  await reporter.flush(reportMs);
  const results = await checkHost(parts, { ...settings, lastSeq: startedSeq });
  const lastSeq = await reportResults(reporter, results);
  if (lastSeq === undefined || !(await awaitDrain(parts, reporter))) return;
  await stageOnHost(parts, { ...settings, lastSeq });
  log(`the unit of attempt ${attemptId} has been started on the host`);
}

const reportMs = 10_000;
const preflightMs = phaseTable.Preflight.limitMs ?? 600_000;
const stageMs = 300_000;

const resultSchema = z.array(
  z.object({ id: z.enum(preflightIds), outcome: z.enum(['ok', 'failed', 'warning', 'skipped']), message: z.string() }),
);

async function checkHost(parts: PodParts, settings: AttemptSettings): Promise<readonly PreflightResult[]> {
  const { files } = parts.host;
  await files.remove(resultFile);
  await runOnHost(parts, settings, { verb: 'preflight', deadlineMs: preflightMs });
  const content = await files.readIfPresent(resultFile);
  const results = resultSchema.safeParse(jsonIfValid(content ?? '')).data;
  if (results === undefined) throw inPlacePodErrors.NO_RESULT({ path: resultFile });
  return results;
}

/** The number of the last report; undefined when the attempt ends here. */
async function reportResults(
  reporter: AttemptReporter,
  results: readonly PreflightResult[],
): Promise<number | undefined> {
  for (const result of results) await reporter.report(preflightEvent(result));
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  const message = failed.map((result) => result.message).join('; ');
  const code = failed.map(({ id }) => id).join(',');
  const lastSeq = await reporter.report(
    failed.length === 0
      ? { phase: 'Ready', step: 'preflight', status: 'ok', message: 'all checks passed' }
      : { phase: 'PreflightFailed', step: 'preflight', status: 'failed', code, message },
  );
  await reporter.flush(reportMs);
  return failed.length === 0 ? lastSeq : undefined;
}

/** True when the controller has drained the node and lets the attempt go on. */
async function awaitDrain({ options, log }: PodParts, reporter: AttemptReporter): Promise<boolean> {
  const deadlineMs = phaseTable.Ready.limitMs ?? 3_600_000;
  const advice = await reporter.waitFor(
    ({ command, phase }) => command === 'abort' || (phase !== undefined && isEnd(phase)) || command === 'none',
    { deadlineMs, signal: options.signal },
  );
  if (advice?.command === 'none') return true;
  log(advice === undefined ? 'nobody let the attempt go on' : `the attempt ends: ${advice.command}`);
  return false;
}

async function stageOnHost(parts: PodParts, settings: AttemptSettings): Promise<void> {
  await runOnHost(parts, settings, { verb: 'stage', deadlineMs: stageMs });
  await parts.units.start(inPlaceUnits.run(settings.attemptId));
}

interface HostWork {
  readonly verb: 'preflight' | 'stage';
  readonly deadlineMs: number;
}

/** Runs a verb of this program as a unit of the host, out of the image of this pod. */
async function runOnHost({ host, units, options }: PodParts, settings: AttemptSettings, work: HostWork): Promise<void> {
  const root = podRoot(host.environment.pid);
  await host.files.write(settingsFile, `${JSON.stringify(settings)}\n`, { mode: 0o600, isDurable: false });
  const words = ['ipb', work.verb, '--settings', root + settingsFile];
  const more = work.verb === 'preflight' ? ['--result', root + resultFile] : ['--program', root];
  await units.run(
    {
      name: `ipb-${work.verb}.service`,
      description: `In-place bootstrap ${settings.attemptId}: ${work.verb}`,
      command: programCommand(root, host.environment.architecture, [...words, ...more]),
      isReadOnly: work.verb === 'preflight',
      deadlineMs: work.deadlineMs,
    },
    options.signal,
  );
}
