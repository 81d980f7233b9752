// Brings an attempt to the point where its host works on it alone: the checks, their reports, the wait until the
// node is drained, then program and unit on the host. A pod does it on a node; over SSH a verb does it on a machine
// that is no node yet.
import { runSystemProgram } from '../config-daemon/system-program.ts';
import { type AttemptSettings, inPlaceUnits, type PreflightResult } from '../contract/in-place.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { isEnd, phaseTable } from './phases.ts';
import { runPreflight, triedAgain } from './preflight/run-preflight.ts';
import { preflightEvent } from './reporting/preflight-event.ts';
import { type AttemptReporter, openReporter } from './reporting/reporter.ts';
import { stageAttempt } from './stage-attempt.ts';

export interface BroughtAttempt {
  readonly settings: AttemptSettings;
  /** A folder for reports that no server has confirmed yet. */
  readonly spool: string;
  /** Of this program. */
  readonly version: string;
  /** Where the boot of the machine is read, if not at the usual place. */
  readonly bootIdFile?: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** `tell` reports what is tried again. */
  readonly check: (
    settings: AttemptSettings,
    tell: (message: string) => Promise<void>,
  ) => Promise<readonly PreflightResult[]>;
  /** Puts the attempt on the host and starts its unit. */
  readonly stage: (settings: AttemptSettings) => Promise<void>;
}

export interface BringOutcome {
  /** The host works on it; otherwise it has ended. */
  readonly isStarted: boolean;
  readonly preflight: readonly PreflightResult[];
}

export async function bringAttempt(host: Host, bring: BroughtAttempt): Promise<BringOutcome> {
  const { settings, spool, version, bootIdFile, log } = bring;
  await using reporter = await openReporter(host, {
    settings,
    spool,
    agentVersion: version,
    ...(bootIdFile === undefined ? {} : { bootIdFile }),
    onTrouble: (sink, problem) => log(`${sink}: ${problem}`),
  });
  const message = `checks on ${settings.node}`;
  const startedSeq = await reporter.report({ phase: 'Preflight', step: 'preflight', status: 'started', message });
  await reporter.flush(reportMs);
  const tell = async (again: string): Promise<void> => {
    await reporter.report({ phase: 'Preflight', step: 'preflight', status: 'progress', message: again });
  };
  const preflight = await told(reporter, 'Preflight', () => bring.check({ ...settings, lastSeq: startedSeq }, tell));
  const lastSeq = await reportResults(reporter, preflight);
  if (lastSeq === undefined || !(await awaitDrain(bring, reporter))) return { isStarted: false, preflight };
  await told(reporter, 'Ready', () => bring.stage({ ...settings, lastSeq }));
  log(`the unit of attempt ${settings.attemptId} has been started on the host`);
  return { isStarted: true, preflight };
}

export interface BringHere extends Pick<BroughtAttempt, 'settings' | 'spool' | 'version' | 'signal' | 'log'> {
  /** The root of an image of this program. */
  readonly programRoot: string;
}

/** On this very machine, without a pod. */
export async function bringHere(host: Host, { programRoot, ...bring }: BringHere): Promise<BringOutcome> {
  return bringAttempt(host, {
    ...bring,
    check: (settings, tell) =>
      runPreflight(host, settings, bring.signal, {
        onRound: async (results, isLast) => {
          if (!isLast) await tell(triedAgain(results));
        },
      }),
    stage: async (settings) => {
      await stageAttempt(host, settings, programRoot);
      const unit = inPlaceUnits.run(settings.attemptId);
      await runSystemProgram(host, 'systemctl', ['start', '--no-block', unit]);
    },
  });
}

const reportMs = 10_000;

/** What keeps it from going on is reported first: a pod that ends starts again, and nobody would know why. */
async function told<Value>(
  reporter: AttemptReporter,
  phase: 'Preflight' | 'Ready',
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FirstlightError) {
      await reporter.report({ phase, step: 'bring', status: 'warning', code: error.code, message: error.message });
      await reporter.flush(reportMs);
    }
    throw error;
  }
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
async function awaitDrain({ signal, log }: BroughtAttempt, reporter: AttemptReporter): Promise<boolean> {
  const deadlineMs = phaseTable.Ready.limitMs ?? 3_600_000;
  const advice = await reporter.waitFor(
    ({ command, phase }) => command === 'abort' || (phase !== undefined && isEnd(phase)) || command === 'none',
    { deadlineMs, signal },
  );
  if (advice?.command === 'none') return true;
  log(advice === undefined ? 'nobody let the attempt go on' : `the attempt ends: ${advice.command}`);
  return false;
}
