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
import { bootIdFile } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { bringAttempt } from '../bring-attempt.ts';
import { phaseTable } from '../phases.ts';
import { triedAgain } from '../preflight/run-preflight.ts';
import { askGrant, type GrantAnswer } from './ask-grant.ts';
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

const askAgainMs = { wait: 500, idle: 2_000 } as const;

/** Until the signal. */
export async function runPod(host: Host, options: PodOptions): Promise<void> {
  const { node, signal } = options;
  const content = await host.files.readIfPresent(podPaths.facts);
  const facts = inPlaceFactsSchema.safeParse(jsonIfValid(content ?? '')).data;
  if (facts === undefined) throw inPlacePodErrors.NOT_POD({ missing: podPaths.facts });
  await using units = await connectHostUnits(host);
  const log = newLog(options.log);
  let endedAttempt: string | undefined;
  let answer: GrantAnswer | undefined;
  while (!signal.aborted) {
    const hostAttempt = await readHostAttempt(host);
    const known = endedAttempt ?? hostAttempt?.attemptId;
    const unitState = known === undefined ? 'inactive' : await units.activeState(inPlaceUnits.run(known));
    const step = nextPodStep({ hostAttempt, endedAttempt, unitState, answer });
    answer = step.kind === 'ask' ? await askGrant(host, { facts, node, tokenFile: podPaths.token }, signal) : undefined;
    if (step.kind === 'attempt') {
      log(`attempt ${step.grant.attemptId}`);
      await bringByPod({ host, units, facts, options, log }, step.grant);
      endedAttempt = step.grant.attemptId;
    }
    if (step.kind === 'ask' || step.kind === 'attempt') continue;
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

async function bringByPod(parts: PodParts, grant: ReporterGrant): Promise<void> {
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
  const { version, signal } = options;
  await bringAttempt(host, {
    settings,
    spool: `${podPaths.work}/spool-${attemptId}`,
    version,
    signal,
    log,
    check: (checked, tell) => checkHost(parts, checked, tell),
    stage: (staged) => stageOnHost(parts, staged),
    bootIdFile: podPaths.host + bootIdFile,
  });
}

const preflightMs = phaseTable.Preflight.limitMs ?? 600_000;
const stageMs = 300_000;

/** What `ipb preflight --result` writes after every round. */
const roundSchema = z.object({
  isLast: z.boolean(),
  results: z.array(
    z.object({
      id: z.enum(preflightIds),
      outcome: z.enum(['ok', 'failed', 'warning', 'skipped']),
      message: z.string(),
    }),
  ),
});

type Tell = (message: string) => Promise<void>;

async function checkHost(parts: PodParts, settings: AttemptSettings, tell: Tell): Promise<readonly PreflightResult[]> {
  await parts.host.files.remove(resultFile);
  const over = new AbortController();
  const following = followRounds(parts.host, tell, over.signal);
  try {
    await runOnHost(parts, settings, { verb: 'preflight', deadlineMs: preflightMs });
  } finally {
    over.abort(new Error('the checks are over'));
    await following;
  }
  const last = await readRound(parts.host);
  if (last?.isLast !== true) throw inPlacePodErrors.NO_RESULT({ path: resultFile });
  return last.results;
}

async function readRound({ files }: Host) {
  const content = await files.readIfPresent(resultFile);
  return roundSchema.safeParse(jsonIfValid(content ?? '')).data;
}

const followMs = 1_000;

/** Says what is tried again; pauses between rounds last for seconds. */
async function followRounds(host: Host, tell: Tell, signal: AbortSignal): Promise<void> {
  let said = '';
  while (!signal.aborted) {
    await host.clock.sleep(followMs, signal).catch(() => {});
    const round = await readRound(host);
    const words = round === undefined || round.isLast ? said : triedAgain(round.results);
    if (words !== said) await tell(words);
    said = words;
  }
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
