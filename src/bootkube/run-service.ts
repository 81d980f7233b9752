// One unit of the bootstrap machine from start to end: its stages under the journal, told to the service records, to the
// progress file and to whoever listens. Once the removal of secrets has begun there is nothing left to run on.
import type { Host } from '../host/host.ts';
import { openTimeline } from '../contract/timeline.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';
import type { Stage } from '../workflow/stage.ts';
import { type BootkubeContext, loadContext } from './context.ts';
import { removalMark } from '../contract/bootstrap-paths.ts';
import { openProgress } from './progress.ts';
import { runBootkubeStages } from './run-stages.ts';
import { openServiceRecords } from './service-records.ts';
import { noteIn } from './stage-moments.ts';

export interface ServiceOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface BootstrapService {
  readonly name: string;
  readonly stages: readonly Stage<BootkubeContext>[];
}

export async function runService({ name, stages }: BootstrapService, options: ServiceOptions): Promise<void> {
  const { host, emit, signal } = options;
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
    await runBootkubeStages({ context, stages, emit: tell, signal });
    await records.end();
  } catch (error) {
    await records.end(error);
    throw error;
  } finally {
    await timeline.idle();
  }
}
