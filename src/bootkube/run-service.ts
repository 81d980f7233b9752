// Runs stages of the bootstrap: a whole unit of the bootstrap machine, or single stages for a person. Every run is
// recorded in the journal; a unit also writes service records, the progress file and the timeline.
import { bootkubeJournal, removalMark } from '../contract/bootstrap-paths.ts';
import { pausePointTitle } from '../contract/bootstrap-pause.ts';
import { stageProgressKey, stageProgressText } from '../contract/stage-progress.ts';
import { openTimeline, type Timeline } from '../contract/timeline.ts';
import type { Host } from '../host/host.ts';
import { runStages } from '../workflow/engine.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';
import { openJournal } from '../workflow/journal.ts';
import type { Stage } from '../workflow/stage.ts';
import { type BootkubeContext, loadContext } from './context.ts';
import { holdBefore } from './hold.ts';
import { claimWriter } from './one-writer.ts';
import { openProgress } from './progress.ts';
import { openServiceRecords } from './service-records.ts';

export interface ServiceOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface BootstrapService {
  readonly name: string;
  readonly stages: readonly Stage<BootkubeContext>[];
}

/** The longest stage that a person can run waits ten minutes for the API. */
const servicePatienceMs = 30 * 60_000;

export async function runService({ name, stages }: BootstrapService, options: ServiceOptions): Promise<void> {
  const { host, emit, signal } = options;
  // After the removal of secrets has begun, the inputs of the stages may be deleted.
  if ((await host.files.facts(removalMark)) !== undefined) return;
  const records = await openServiceRecords(host, name);
  const progress = openProgress(host);
  const timeline = openTimeline(host, name);
  const tell = (event: WorkflowEvent): void => {
    records.observe(event);
    progress.observe(event);
    noteIn(timeline, event);
    emit(event);
  };
  try {
    const context = await loadContext(host, tell);
    const holdsBefore = (stage: string): Promise<void> => holdBefore(stage, { host, emit: tell, signal });
    await runBootkubeStages({
      context,
      stages,
      emit: tell,
      signal,
      purpose: `${name}.service`,
      patienceMs: servicePatienceMs,
      holdsBefore,
    });
    await records.end();
  } catch (error) {
    await records.end(error);
    throw error;
  } finally {
    await timeline.idle();
  }
}

export interface RunBootkubeOptions {
  readonly context: BootkubeContext;
  readonly stages: readonly Stage<BootkubeContext>[];
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** The command, for whoever else wants to write meanwhile. */
  readonly purpose: string;
  /** How long to wait for another writer before each stage. */
  readonly patienceMs: number;
  /** Waits for as long as the stage is held back; nobody is while it waits. */
  readonly holdsBefore?: (stage: string) => Promise<void>;
}

/** Each stage is one claim of the journal, which is read anew: a person may run a stage between two of a unit. */
export async function runBootkubeStages(options: RunBootkubeOptions): Promise<void> {
  const { context, stages, emit, signal, purpose, patienceMs } = options;
  const { host } = context;
  for (const stage of stages) {
    await options.holdsBefore?.(stage.name);
    await using _ = await claimWriter({
      host,
      purpose: `${purpose}, stage ${pausePointTitle(stage.name)}`,
      patienceMs,
      signal,
      onWaiting: (text) => emit({ kind: 'notice', level: 'info', text: `${stage.name}: ${text}` }),
    });
    await using journal = await openJournal(host.files, bootkubeJournal);
    await runStages({ stages: [stage], context, journal, clock: host.clock, emit, signal });
  }
}

/** Writes the stages of a unit to the timeline of the machine. */
function noteIn(timeline: Timeline, event: WorkflowEvent): void {
  if (event.kind === 'stage-started') timeline.mark(event.stage, 'began');
  if (event.kind === 'stage-progress') {
    const { progress } = event;
    timeline.mark(event.stage, 'moved', { text: stageProgressText(progress), key: stageProgressKey(progress) });
  }
  if (event.kind === 'stage-done')
    timeline.mark(event.stage, 'done', event.note === undefined ? {} : { text: event.note });
  if (event.kind === 'stage-failed') {
    const text = event.error instanceof Error ? event.error.message : String(event.error);
    timeline.mark(event.stage, 'failed', { text });
  }
}
