// Turns workflow events into the progress file, which programs outside the machine read: the stage, what it waits for,
// and whether the bootstrap is complete. The file is replaced atomically; the last writer wins.
import { type BootstrapProgress, writeBootstrapProgress } from '../contract/bootstrap-progress.ts';
import type { Host } from '../host/host.ts';
import type { WorkflowEvent } from '../workflow/events.ts';

export interface ProgressWriter {
  readonly observe: (event: WorkflowEvent) => void;
  readonly complete: () => Promise<void>;
}

export function openProgress(host: Host): ProgressWriter {
  let writing: Promise<void> = Promise.resolve();
  const write = (seen: Omit<BootstrapProgress, 'at' | 'isComplete'>, isComplete = false): Promise<void> => {
    const record: BootstrapProgress = { ...seen, at: host.clock.now().toISOString(), isComplete };
    writing = writing.then(() => writeBootstrapProgress(host.files, record));
    return writing;
  };
  return {
    observe: (event) => {
      if (event.kind === 'stage-started') void write({ stage: event.stage, state: 'running' });
      if (event.kind === 'stage-progress') {
        void write({ stage: event.stage, state: 'running', progress: event.progress });
      }
      if (event.kind === 'stage-paused') void write({ stage: event.stage, state: 'paused' });
      if (event.kind === 'stage-done') void write({ stage: event.stage, state: 'done' });
      if (event.kind === 'stage-failed') {
        const reason = event.error instanceof Error ? event.error.message : String(event.error);
        void write({ stage: event.stage, state: 'failed', reason });
      }
    },
    complete: () => write({ stage: 'handoff', state: 'done' }, true),
  };
}
