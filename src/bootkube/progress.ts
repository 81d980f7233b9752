// What the bootstrap is doing, in a file that anybody outside the machine can read: the stage, what it misses, and
// whether all is done. Replaced atomically; the last writer wins.
import { dirname } from 'node:path';
import type { Host } from '../host/host.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { progressFile } from '../contract/bootstrap-paths.ts';

export interface BootstrapProgressRecord {
  readonly stage: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly at: string;
  readonly missing: readonly string[];
  readonly isComplete: boolean;
}

export interface ProgressWriter {
  readonly observe: (event: WorkflowEvent) => void;
  readonly complete: () => Promise<void>;
}

export async function openProgress(host: Host): Promise<ProgressWriter> {
  await host.files.makeFolder(dirname(progressFile));
  let writing: Promise<void> = Promise.resolve();
  const write = (progress: Omit<BootstrapProgressRecord, 'at' | 'isComplete'>, isComplete = false): Promise<void> => {
    const text = `${JSON.stringify({ ...progress, at: host.clock.now().toISOString(), isComplete }, null, 2)}\n`;
    writing = writing.then(() => host.files.write(progressFile, text));
    return writing;
  };
  return {
    observe: (event) => {
      if (event.kind === 'stage-started') void write({ stage: event.stage, state: 'running', missing: [] });
      if (event.kind === 'stage-progress')
        void write({ stage: event.stage, state: 'running', missing: [event.progress] });
      if (event.kind === 'stage-done') void write({ stage: event.stage, state: 'done', missing: [] });
      if (event.kind === 'stage-failed') {
        const reason = event.error instanceof Error ? event.error.message : String(event.error);
        void write({ stage: event.stage, state: 'failed', missing: [reason] });
      }
    },
    complete: () => write({ stage: 'handoff', state: 'done', missing: [] }, true),
  };
}
