// The whole life of bootkube.service: fifteen stages, then the masters, then the handoff. Everything it does is observed
// first, so systemd may restart it anywhere and it continues.
import type { Host } from '../host/host.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';
import { loadContext } from './context.ts';
import { removalMark } from './journal-folder.ts';
import { openProgress } from './progress.ts';
import { runBootkubeStages } from './run-stages.ts';
import { openServiceRecords } from './service-records.ts';
import { handoffStages, stages } from './stages.ts';

export interface BootstrapOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function runBootstrap({ host, emit, signal }: BootstrapOptions): Promise<void> {
  if ((await host.files.facts(removalMark)) !== undefined) return;
  const records = await openServiceRecords(host, 'bootkube');
  const progress = await openProgress(host);
  const tell = (event: WorkflowEvent): void => {
    records.observe(event);
    progress.observe(event);
    emit(event);
  };
  try {
    const context = await loadContext(host, tell);
    await runBootkubeStages({ context, stages: [...stages, ...handoffStages], emit: tell, signal });
    await records.end();
  } catch (error) {
    await records.end(error);
    throw error;
  }
}
