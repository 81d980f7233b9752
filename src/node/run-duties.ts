// Runs every duty of a machine again and again, each at its own pace: a duty that hangs on an unreachable API delays no
// other. A duty runs when the doorbell rings, soon again while it is not settled, and rarely while it is.
import { waitingFor } from '../contract/missing.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { Doorbell } from '../workflow/doorbell.ts';
import { pause } from '../workflow/pause.ts';
import type { Agent } from './agent-context.ts';
import type { Duty, DutyOutcome } from './duty.ts';

export interface DutyReport {
  readonly duty: string;
  readonly outcome: DutyOutcome;
  /** Since when the duty has this outcome. */
  readonly since: Date;
}

export interface RunDutiesOptions {
  readonly duties: readonly Duty[];
  readonly agent: Agent;
  readonly signal: AbortSignal;
  /** Called when an outcome differs from the one before. */
  readonly onChange: (report: DutyReport, all: readonly DutyReport[]) => void;
}

const tickMsDefault = 1_000;
const settledTickMsDefault = 30_000;
/** Several rings usually come together: a duty that has just run waits this long for the rest of them. */
const gatherRingsMs = 50;
/** A duty that acts again and again without being settled must not run without a pause. */
const actionsInARow = 5;

/** Runs until the signal is aborted, and then throws its reason. */
export async function runDuties(options: RunDutiesOptions): Promise<never> {
  const reports = new Map<string, DutyReport>();
  const settledOnce = new Set<string>();
  await Promise.all(options.duties.map((duty) => keepDuty(duty, options, { reports, settledOnce })));
  options.signal.throwIfAborted();
  throw new Error('duties end only by the signal');
}

interface DutyStates {
  readonly reports: Map<string, DutyReport>;
  /** Duties that were settled once: duties that need them may run. */
  readonly settledOnce: Set<string>;
}

async function keepDuty(duty: Duty, options: RunDutiesOptions, states: DutyStates): Promise<void> {
  const { agent, signal } = options;
  let actions = 0;
  while (!signal.aborted) {
    const { rings } = agent.doorbell;
    const lookedMs = agent.host.clock.monotonicMs();
    const outcome = await lookAt(duty, options, states);
    if (signal.aborted) return;
    const ownRings = report(duty, outcome, options, states);
    actions = outcome.status === 'acted' ? actions + 1 : 0;
    if (actions > 0 && actions < actionsInARow) continue;
    await pauseDuty(agent.host, {
      ...pauseAfter(outcome, duty),
      doorbell: agent.doorbell,
      rings: rings + ownRings,
      untilMs: lookedMs + gatherRingsMs,
      signal,
    });
  }
}

function pauseAfter(outcome: DutyOutcome, duty: Duty): Pick<Pause, 'pauseMs' | 'ignoresRings'> {
  if (outcome.status !== 'settled') return { pauseMs: duty.tickMs ?? tickMsDefault, ignoresRings: false };
  return { pauseMs: duty.settledTickMs ?? settledTickMsDefault, ignoresRings: duty.ignoresRingsWhenSettled === true };
}

async function lookAt(
  duty: Duty,
  { agent, signal }: RunDutiesOptions,
  { settledOnce }: DutyStates,
): Promise<DutyOutcome> {
  const missing = duty.needs.filter((name) => !settledOnce.has(name));
  if (missing.length > 0)
    return { status: 'waiting', missing: missing.map((duty) => waitingFor('the duty', duty, { duty })) };
  try {
    return await duty.run(agent);
  } catch (error) {
    if (signal.aborted) return { status: 'waiting', missing: [] };
    if (error instanceof FirstlightError) {
      return { status: 'waiting', missing: [waitingFor(`${error.message} (${error.code})`, '', { key: error.code })] };
    }
    // A programming mistake in one duty must be seen, and must not end the others: one of them runs etcd.
    const where = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 'waiting', missing: [waitingFor('a correction of firstlight itself', '', { detail: where })] };
  }
}

/** Reports an outcome that changed; returns how often it rang the doorbell for that. */
function report(
  duty: Duty,
  outcome: DutyOutcome,
  options: RunDutiesOptions,
  { reports, settledOnce }: DutyStates,
): number {
  const before = reports.get(duty.name);
  const isFirstSettled = outcome.status === 'settled' && !settledOnce.has(duty.name);
  if (isFirstSettled) settledOnce.add(duty.name);
  if (before === undefined || JSON.stringify(before.outcome) !== JSON.stringify(outcome)) {
    const report = { duty: duty.name, outcome, since: options.agent.host.clock.now() };
    reports.set(duty.name, report);
    const inOrder = options.duties.flatMap(({ name }) => reports.get(name) ?? []);
    options.onChange(report, inOrder);
  }
  if (!isFirstSettled && outcome.status !== 'acted') return 0;
  options.agent.doorbell.ring();
  return 1;
}

interface Pause {
  readonly doorbell: Doorbell;
  readonly rings: number;
  readonly pauseMs: number;
  readonly ignoresRings: boolean;
  /** The pause lasts at least until this moment, also when the doorbell rings. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

async function pauseDuty(
  host: Host,
  { doorbell, rings, pauseMs, ignoresRings, untilMs, signal }: Pause,
): Promise<void> {
  const wake = ignoresRings ? undefined : (end: AbortSignal): Promise<void> => doorbell.rung(rings, end);
  try {
    await pause(host.clock, { ms: pauseMs, signal, wake });
    const leftMs = untilMs - host.clock.monotonicMs();
    if (leftMs > 0) await host.clock.sleep(leftMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
