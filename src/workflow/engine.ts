// Runs stages in their order: observe, run, record. The engine keeps state only in the journal, and a stage counts as
// done only if its observation confirms the journal. So the process may be killed at any point.
import type { StageProgress } from '../contract/stage-progress.ts';
import type { Clock } from '../host/clock.ts';
import type { Emit } from './events.ts';
import type { Journal, JournalRecord } from './journal.ts';
import type { Stage, StageRecord, StageResult } from './stage.ts';

export interface EngineOptions<Context> {
  readonly stages: readonly Stage<Context>[];
  readonly context: Context;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function runStages<Context>(options: EngineOptions<Context>): Promise<void> {
  const last = lastRecords(options.journal.records);
  for (const stage of options.stages) {
    options.signal.throwIfAborted();
    await runStage(options, stage, last.get(stage.name));
  }
}

async function runStage<Context>(
  options: EngineOptions<Context>,
  stage: Stage<Context>,
  last: StageRecord | undefined,
): Promise<void> {
  const { context, emit } = options;
  const seen = await stage.observe(context, last);
  if (seen.status === 'done') return emit({ kind: 'stage-unchanged', stage: stage.name });
  if (seen.status === 'adopt') {
    await record(options, stage.name, seen.result);
    return emit({ kind: 'stage-adopted', stage: stage.name, note: seen.note });
  }
  const startMs = options.clock.monotonicMs();
  const began = options.clock.now().toISOString();
  emit({ kind: 'stage-started', stage: stage.name, because: seen.because });
  try {
    const report = (progress: StageProgress): void => emit({ kind: 'stage-progress', stage: stage.name, progress });
    const result = await stage.run(context, { signal: options.signal, report }, last);
    await record(options, stage.name, { ...result, began });
    const ms = options.clock.monotonicMs() - startMs;
    emit({ kind: 'stage-done', stage: stage.name, ms, ...(result.note === undefined ? {} : { note: result.note }) });
  } catch (error) {
    emit({ kind: 'stage-failed', stage: stage.name, ms: options.clock.monotonicMs() - startMs, error });
    throw error;
  }
}

async function record<Context>(
  options: EngineOptions<Context>,
  stage: string,
  result: StageResult & Pick<StageRecord, 'began'>,
): Promise<void> {
  const { inputs = {}, outputs = {}, ...rest } = result;
  await options.journal.append({
    kind: 'stage',
    at: options.clock.now().toISOString(),
    stage,
    inputs,
    outputs,
    ...rest,
  });
}

/** The newest record of each stage. `observe` of the stage gets it for comparison. */
export function lastRecords(records: readonly JournalRecord[]): ReadonlyMap<string, StageRecord> {
  const stages = records.filter((record) => record.kind === 'stage') as unknown as readonly StageRecord[];
  return new Map(stages.map((record) => [record.stage, record]));
}
