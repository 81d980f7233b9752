// The unit `ipb-finish@<attempt>` on a host: from the start of the kubelet to the end of the attempt, which the
// progress API tells, and the removal of everything that the attempt brought but its state file.
import { readBootId } from '../../config-daemon/survey-change.ts';
import { attemptFiles, type HostAttempt, type InPlacePhase } from '../../contract/in-place.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { Host } from '../../host/host.ts';
import { inPlaceErrors } from '../errors.ts';
import { isEnd, phaseTable } from '../phases.ts';
import { type AttemptReporter, openReporter } from '../reporting/reporter.ts';
import { cleanUpAttempt } from './clean-up.ts';
import {
  enteredPhase,
  failedHostAttempt,
  readAttemptSettings,
  readHostAttempt,
  writeHostAttempt,
} from './host-state.ts';
import { phaseReport } from './phase-report.ts';
import { type AttemptRun, lockHost } from './run-attempt.ts';

/** A failure is told for so long; after it only the state file knows. */
const flushMs = 10 * 60_000;

export async function finishAttempt(host: Host, attemptId: string, run: AttemptRun): Promise<HostAttempt> {
  await using _lock = await lockHost(host, attemptId);
  const found = await readHostAttempt(host);
  if (found?.attemptId !== attemptId) {
    throw inPlaceErrors.BUSY({ attempt: attemptId, reason: `this machine knows ${found?.attemptId ?? 'no attempt'}` });
  }
  // Without settings an earlier run was cut off while it cleaned up.
  const hasSettings = (await host.files.facts(attemptFiles(attemptId).settings)) !== undefined;
  const ended = hasSettings ? await reportTheEnd(host, found, run) : found;
  if (isEnd(ended.phase)) await cleanUpAttempt(host, attemptId);
  return ended;
}

async function reportTheEnd(host: Host, found: HostAttempt, run: AttemptRun): Promise<HostAttempt> {
  const settings = await readAttemptSettings(host, found.attemptId);
  await using reporter = await openReporter(host, {
    settings,
    spool: attemptFiles(found.attemptId).spool,
    agentVersion: run.agentVersion,
    onTrouble: (sink, problem) => run.log(`reports to the ${sink}: ${problem}`),
  });
  const following: Following = { host, reporter, run, bootId: await readBootId(host) };
  const ended = isEnd(found.phase) ? found : await followTheEnd(following, found);
  if (isEnd(ended.phase)) await reporter.flush(flushMs);
  return ended;
}

interface Following {
  readonly host: Host;
  readonly reporter: AttemptReporter;
  readonly run: AttemptRun;
  readonly bootId: string;
}

async function followTheEnd(following: Following, booted: HostAttempt): Promise<HostAttempt> {
  const joining = booted.phase === 'Booted' ? await untilKubeletRuns(following, booted) : booted;
  if (isEnd(joining.phase)) return joining;
  const phase = await untilControllerEnds(following);
  if (phase === 'Succeeded') return enter(following, enteredPhase(joining, 'Succeeded', momentOf(following)));
  const failure =
    phase === undefined
      ? { phase: 'Failed', code: 'EndUnknown', message: 'the controller did not tell how the attempt has ended' }
      : { phase: 'Failed', code: 'EndedByController', message: `the controller has ended the attempt: ${phase}` };
  return enter(following, failedHostAttempt(joining, { ...failure, phase: 'Failed' }, momentOf(following)));
}

const lookAgainMs = 300;
const systemctlMs = 10_000;
const journalMs = 10_000;
const wordsMax = 1_000;

async function untilKubeletRuns(following: Following, booted: HostAttempt): Promise<HostAttempt> {
  const { host, run } = following;
  const { limitMs = 0, onLimit } = phaseTable.Booted;
  for (;;) {
    const args = ['is-active', unitNames.kubelet];
    const { stdout } = await host.processes.run('systemctl', args, { timeoutMs: systemctlMs, signal: run.signal });
    if (stdout.trim() === 'active') return enter(following, enteredPhase(booted, 'Joining', momentOf(following)));
    if (host.clock.now().getTime() - Date.parse(booted.since) > limitMs) {
      const state = `${unitNames.kubelet} is ${stdout.trim() || 'unknown'} after ${limitMs / 60_000} minutes`;
      const message = [state, await lastWords(following)].filter((part) => part !== '').join('; ');
      const failure = { phase: 'Failed', code: onLimit?.code ?? 'KubeletNotStarted', message } as const;
      return enter(following, failedHostAttempt(booted, failure, momentOf(following)));
    }
    await host.clock.sleep(lookAgainMs, run.signal);
  }
}

/** The agent starts the kubelet when it has what a kubelet needs, such as a certificate, and says what it waits for. */
async function lastWords({ host, run }: Following): Promise<string> {
  const args = ['--boot', '--no-pager', '--output=cat', '--lines=1', `--unit=${unitNames.agent}`];
  const { code, stdout } = await host.processes.run('journalctl', args, { timeoutMs: journalMs, signal: run.signal });
  return code === 0 && stdout.trim() !== '' ? `the agent said last: ${stdout.trim()}`.slice(0, wordsMax) : '';
}

/** Restoring may take as long as the API is away; the host gives up when nobody can be waiting any more. */
const endLimitMs = 6 * 3_600_000;

/** Undefined when that cannot be learned. */
async function untilControllerEnds({ host, reporter, run }: Following): Promise<InPlacePhase | undefined> {
  const endMs = host.clock.monotonicMs() + endLimitMs;
  const isSuperseded = (): boolean => reporter.sinks().some((sink) => sink.name === 'cluster' && sink.isSuperseded);
  while (host.clock.monotonicMs() < endMs) {
    const advice = await reporter.waitFor(({ phase }) => (phase !== undefined && isEnd(phase)) || isSuperseded(), {
      deadlineMs: 60_000,
      signal: run.signal,
    });
    if (advice?.phase !== undefined && isEnd(advice.phase)) return advice.phase;
    if (isSuperseded()) return undefined;
  }
  return undefined;
}

/** The end that the controller has told is not reported to it again. */
async function enter(following: Following, attempt: HostAttempt): Promise<HostAttempt> {
  const { host, reporter, run } = following;
  await writeHostAttempt(host, attempt);
  run.log(`${attempt.phase}${attempt.failure === undefined ? '' : `: ${attempt.failure.message}`}`);
  const isTold = isEnd(attempt.phase) && attempt.failure?.code !== phaseTable.Booted.onLimit?.code;
  if (!isTold) await reporter.report(phaseReport(attempt));
  return attempt;
}

function momentOf({ host, bootId }: Following) {
  return { now: host.clock.now(), bootId };
}
