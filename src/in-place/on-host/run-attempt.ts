// The unit `ipb-run@<attempt>` on a host: observe, decide (next-host-step.ts), carry out, until nothing is left for it.
// Before each act the state file says what is about to happen, so that the next run goes on from there.

import { reboot } from '../../config-daemon/post-actions.ts';
import { readBootId } from '../../config-daemon/survey-change.ts';
import { runSystemProgram } from '../../config-daemon/system-program.ts';
import { disableUnits, enableUnits } from '../../config-daemon/unit-states.ts';
import {
  type AttemptSettings,
  attemptFiles,
  type HostAttempt,
  inPlaceFiles,
  inPlaceUnits,
  type ProgressCommand,
} from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { inPlaceErrors } from '../errors.ts';
import { isEnd, phaseTable } from '../phases.ts';
import { type AttemptReporter, openReporter } from '../reporting/reporter.ts';
import { giveBackUnits, holdUnits, isHolding } from './hold-units.ts';
import {
  begunAttempt,
  enteredPhase,
  failedHostAttempt,
  isInTheWay,
  readAttemptSettings,
  readHostAttempt,
  systemOf,
  writeHostAttempt,
} from './host-state.ts';
import { type HostStep, nextHostStep } from './next-host-step.ts';
import { payloadRoute } from './payload-stages.ts';
import { phaseReport } from './phase-report.ts';
import type { InPlaceRoute, RouteContext } from './route.ts';
import { ignitionRoute } from './route-ignition.ts';

export interface AttemptRun {
  /** The version of this program, for reports. */
  readonly agentVersion: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Resolves when nothing is left for this unit, or when the machine goes down. */
export async function runAttempt(host: Host, attemptId: string, run: AttemptRun): Promise<HostAttempt> {
  await using _lock = await lockHost(host, attemptId);
  const settings = await readAttemptSettings(host, attemptId);
  const bootId = await readBootId(host);
  const attempt = await ownAttempt(host, settings, bootId);
  const { spool } = attemptFiles(attemptId);
  await using reporter = await openReporter(host, {
    settings,
    spool,
    agentVersion: run.agentVersion,
    onTrouble: (sink, problem) => run.log(`reports to the ${sink}: ${problem}`),
  });
  const runner = new AttemptRunner({ host, settings, bootId, reporter, run }, attempt);
  // Awaited here: lock and reporter end with this function.
  return await runner.toTheEnd();
}

/** One process works on an attempt. */
export async function lockHost({ files }: Host, attemptId: string): Promise<AsyncDisposable> {
  await files.makeFolder(inPlaceFiles.folder, { mode: 0o700 });
  const lock = await files.lockFile(inPlaceFiles.lock);
  if (lock === undefined) throw inPlaceErrors.BUSY({ attempt: attemptId, reason: `${inPlaceFiles.lock} is held` });
  return lock;
}

async function ownAttempt(host: Host, settings: AttemptSettings, bootId: string): Promise<HostAttempt> {
  const { attemptId } = settings;
  const found = await readHostAttempt(host);
  if (found?.attemptId === attemptId) return found;
  if (found !== undefined && isInTheWay(found, attemptId)) {
    throw inPlaceErrors.BUSY({ attempt: attemptId, reason: `${found.attemptId} is in phase ${found.phase}` });
  }
  const begun = begunAttempt(settings, { now: host.clock.now(), bootId });
  await writeHostAttempt(host, begun);
  return begun;
}

interface RunnerParts {
  readonly host: Host;
  readonly settings: AttemptSettings;
  readonly bootId: string;
  readonly reporter: AttemptReporter;
  readonly run: AttemptRun;
}

/** Between two questions to the progress API the limit of the phase is looked at. */
const askMs = 20_000;
/** Before the machine goes down, and before the next unit takes over. */
const flushMs = 2_000;
const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

class AttemptRunner {
  readonly #parts: RunnerParts;
  readonly #route: InPlaceRoute;
  #attempt: HostAttempt;
  #command: ProgressCommand | undefined;
  #hasStopped = false;
  #reported: string | undefined;
  #trouble: string | undefined;
  #failures = 0;

  constructor(parts: RunnerParts, attempt: HostAttempt) {
    this.#parts = parts;
    this.#attempt = attempt;
    const { host, settings, run } = parts;
    const context: RouteContext = {
      host,
      settings,
      signal: run.signal,
      log: run.log,
      report: async (event) => void (await parts.reporter.report(event)),
    };
    this.#route = routeOf(context);
  }

  async toTheEnd(): Promise<HostAttempt> {
    const { signal } = this.#parts.run;
    for (;;) {
      const isDown = signal.aborted;
      const step = nextHostStep(await this.#observe());
      if (isDown && step.kind !== 'enter') return this.#attempt;
      try {
        await this.#carryOut(step);
      } catch (error) {
        // The machine goes down, and the next boot goes on. What ended with it is looked at once more.
        if (isDown || !signal.aborted) throw error;
      }
      if (step.kind === 'hand-over') return this.#attempt;
    }
  }

  async #observe() {
    const { host, bootId, settings } = this.#parts;
    return {
      attempt: this.#attempt,
      bootId,
      now: host.clock.now(),
      command: this.#command,
      hasStopped: this.#hasStopped,
      isHolding: await isHolding(host, settings.attemptId),
      work: await this.#route.look(this.#attempt),
      trouble: this.#trouble,
    };
  }

  async #carryOut(step: HostStep): Promise<void> {
    const { host, settings } = this.#parts;
    switch (step.kind) {
      case 'ask':
        return this.#ask(step.waitsFor, step.until);
      case 'enter':
        return this.#enter(enteredPhase(this.#attempt, step.phase, this.#moment()));
      case 'note-boot':
        return this.#write({ ...this.#attempt, bootId: this.#parts.bootId });
      case 'stop':
        await holdUnits(host, settings.attemptId);
        this.#hasStopped = true;
        return;
      case 'prepare':
        return this.#judge(await this.#route.prepare(), 'Failed');
      case 'work':
        return this.#judge(await this.#route.work(this.#attempt, this.#leftMs()), 'RolledBack');
      case 'reboot':
        return this.#reboot();
      case 'fail':
        return this.#fail(step);
      case 'give-back':
        await this.#route.tidy();
        return giveBackUnits(host, settings.attemptId);
      case 'hand-over':
        return this.#handOver();
    }
  }

  /** The first question is the report of the phase. */
  async #ask(waitsFor: string, until: readonly ProgressCommand[]): Promise<void> {
    const { reporter, run } = this.#parts;
    if (this.#reported !== this.#attempt.phase) {
      run.log(`waits for ${waitsFor}`);
      await this.#report();
    }
    const deadlineMs = Math.max(1_000, Math.min(askMs, this.#leftMs()));
    const advice = await reporter.waitFor(({ command }) => until.includes(command), {
      deadlineMs,
      signal: run.signal,
    });
    this.#command = advice?.command;
  }

  /** What was stopped or applied is reported when it is done; the state file says it before. */
  async #enter(attempt: HostAttempt): Promise<void> {
    await this.#write(attempt);
    this.#parts.run.log(`${attempt.phase}${attempt.failure === undefined ? '' : `: ${attempt.failure.message}`}`);
    this.#trouble = undefined;
    this.#failures = 0;
    if (attempt.phase !== 'KubeletStopped') await this.#report();
  }

  async #judge(outcome: Awaited<ReturnType<InPlaceRoute['work']>>, phase: 'Failed' | 'RolledBack'): Promise<void> {
    if (outcome.status === 'done') return;
    if (outcome.status === 'failed') return this.#fail({ phase, code: outcome.code, message: outcome.message });
    const { host, reporter, run } = this.#parts;
    if (this.#trouble !== outcome.reason) {
      const { phase } = this.#attempt;
      run.log(`will try again: ${outcome.reason}`);
      await reporter.report({ phase, step: 'again', status: 'warning', message: outcome.reason });
    }
    this.#trouble = outcome.reason;
    this.#failures += 1;
    await host.clock.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1)), run.signal);
  }

  /** What was changed is undone before the state file says that the attempt has ended. */
  async #fail(failure: { readonly phase: 'Failed' | 'RolledBack'; readonly code: string; readonly message: string }) {
    const isUndone = await this.#route.undo(this.#attempt);
    const phase = isUndone ? failure.phase : 'Failed';
    await this.#enter(failedHostAttempt(this.#attempt, { ...failure, phase }, this.#moment()));
  }

  async #reboot(): Promise<void> {
    const { host, reporter, run } = this.#parts;
    await reporter.flush(flushMs);
    await reboot(host);
    await host.clock.sleep(this.#leftMs(), run.signal);
  }

  async #handOver(): Promise<void> {
    const { host, settings, reporter } = this.#parts;
    if (isEnd(this.#attempt.phase) && this.#reported !== this.#attempt.phase) await this.#report();
    const [run, finish] = [inPlaceUnits.run(settings.attemptId), inPlaceUnits.finish(settings.attemptId)];
    await enableUnits(host, [finish]);
    await disableUnits(host, [run]);
    // It is ordered after this unit, which must not wait for it.
    await runSystemProgram(host, 'systemctl', ['--no-block', 'start', finish]);
    if (isEnd(this.#attempt.phase)) await reporter.flush(flushMs);
  }

  async #write(attempt: HostAttempt): Promise<void> {
    await writeHostAttempt(this.#parts.host, attempt);
    this.#attempt = attempt;
  }

  async #report(): Promise<void> {
    this.#reported = this.#attempt.phase;
    const seq = await this.#parts.reporter.report(phaseReport(this.#attempt));
    await this.#write({ ...this.#attempt, seq });
  }

  #moment() {
    return { now: this.#parts.host.clock.now(), bootId: this.#parts.bootId };
  }

  /** Of the time that the phase may take. */
  #leftMs(): number {
    const { limitMs = Number.MAX_SAFE_INTEGER } = phaseTable[this.#attempt.phase];
    return limitMs - (this.#parts.host.clock.now().getTime() - Date.parse(this.#attempt.since));
  }
}

function routeOf(context: RouteContext): InPlaceRoute {
  return systemOf(context.settings) === 'rhcos' ? ignitionRoute(context) : payloadRoute(context);
}
