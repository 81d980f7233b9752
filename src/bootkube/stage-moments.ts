// The stages of a bootstrap unit on the machine's timeline.
import type { Timeline } from '../contract/timeline.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { stageProgressText } from '../contract/stage-progress.ts';

export function noteIn(timeline: Timeline, event: WorkflowEvent): void {
  if (event.kind === 'stage-started') timeline.mark(event.stage, 'began');
  if (event.kind === 'stage-progress') timeline.mark(event.stage, 'moved', stageProgressText(event.progress));
  if (event.kind === 'stage-done') timeline.mark(event.stage, 'done', event.note);
  if (event.kind === 'stage-failed') {
    timeline.mark(event.stage, 'failed', event.error instanceof Error ? event.error.message : String(event.error));
  }
}
