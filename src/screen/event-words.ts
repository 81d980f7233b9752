// Events in words, one line each, with their level. The screen and the log use the same words.
import type { WorkflowEvent } from '../workflow/events.ts';
import { stageProgressText } from '../contract/stage-progress.ts';

export function describeEvent(event: WorkflowEvent): {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
} {
  switch (event.kind) {
    case 'stage-unchanged':
      return { level: 'debug', text: `${event.stage}: unchanged` };
    case 'stage-adopted':
      return { level: 'info', text: `${event.stage}: ${event.note}` };
    case 'stage-started':
      return { level: 'debug', text: `${event.stage}: ${event.because}` };
    case 'stage-progress':
      return { level: 'info', text: `${event.stage}: ${stageProgressText(event.progress)}` };
    case 'stage-done':
      return { level: 'debug', text: `${event.stage}: ${event.note ?? 'done'} in ${(event.ms / 1000).toFixed(2)} s` };
    case 'stage-failed':
      return { level: 'debug', text: `${event.stage}: failed after ${(event.ms / 1000).toFixed(2)} s` };
    case 'notice':
      return { level: event.level, text: event.text };
  }
}
